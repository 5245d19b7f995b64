//! Environment files, with one `NAME=value` per line.

use super::expand::is_variable_name;

/// The parsed contents of an environment file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EnvFile {
    pub(super) variables: Vec<(String, String)>,
    /// The numbers of invalid lines, counted from 1.
    pub(super) bad_lines: Vec<usize>,
}

/// Parses lines of `NAME=value`. A value may be quoted, a line may begin with `export`,
/// and `#` begins a comment. References in values are not expanded.
pub(super) fn parse(text: &str) -> EnvFile {
    let mut file = EnvFile::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match assignment(line) {
            Some(variable) => file.variables.push(variable),
            None => file.bad_lines.push(number),
        }
    }
    file
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = match line.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => line,
    };
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    is_variable_name(name).then_some(())?;
    Some((name.to_owned(), unquote(value.trim())?))
}

/// Returns `None` if a quote is not closed or is followed by something.
fn unquote(value: &str) -> Option<String> {
    match value.chars().next() {
        Some('\'') => quoted_value(&value[1..], value[1..].find('\'')?),
        Some('"') => {
            let end = closing_quote(&value[1..])?;
            quoted_value(&value[1..], end).map(|inner| unescape(&inner))
        }
        _ => Some(strip_comment(value).to_owned()),
    }
}

/// Returns the string before the quote at `end`, if only a comment follows it.
fn quoted_value(quoted: &str, end: usize) -> Option<String> {
    let after = quoted[end + 1..].trim_start();
    (after.is_empty() || after.starts_with('#')).then(|| quoted[..end].to_owned())
}

fn closing_quote(quoted: &str) -> Option<usize> {
    let mut escaped = false;
    quoted
        .char_indices()
        .find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })
        .map(|(at, _)| at)
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            },
            _ => c,
        });
    }
    out
}

/// A `#` begins a comment only after white space, so `a#b` is a value.
fn strip_comment(value: &str) -> &str {
    let comment = value.find(" #").or_else(|| value.find("\t#"));
    value[..comment.unwrap_or(value.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_sets_a_variable() {
        let cases = [
            ("A=1", "1"),
            (" A = 1 ", "1"),
            ("export A=1", "1"),
            ("A=", ""),
            ("A=x=y", "x=y"),
            ("A=a#b # c", "a#b"),
            ("A='a # b' # c", "a # b"),
            (r"A='a\nb'", r"a\nb"),
            (r#"A="a\n\"b\"""#, "a\n\"b\""),
            ("A=${B}", "${B}"),
        ];
        for (line, value) in cases {
            let file = parse(line);
            assert_eq!(file.variables, [("A".into(), value.into())], "{line}");
        }
    }

    #[test]
    fn other_lines_are_named() {
        let text = "# fine\n\nA=1\nnonsense\n=2\n1A=3\nB='open\nC=\"x\"y\n";
        let file = parse(text);
        assert_eq!(file.variables.len(), 1);
        assert_eq!(file.bad_lines, [4, 5, 6, 7, 8]);
    }
}
