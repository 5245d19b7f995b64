//! Splitting a line into words as a shell does.

/// Splits a line into words at white space; quotes and backslashes keep words together.
/// Nothing is expanded: this is for variables that hold a list, not for running a
/// shell.
///
/// Returns `None` if a quote is not closed.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if c.is_whitespace() => words.extend(word.take()),
            '\'' => single_quoted(&mut chars, word.get_or_insert_default())?,
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next()?),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn single_quoted(chars: &mut impl Iterator<Item = char>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '\'' => return Some(()),
            c => word.push(c),
        }
    }
}

fn double_quoted(chars: &mut impl Iterator<Item = char>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        let cases: [(&str, &[&str]); 8] = [
            ("", &[]),
            ("  a  b\tc\n", &["a", "b", "c"]),
            (r#"a "b c" d"#, &["a", "b c", "d"]),
            (r"'a \b' c\ d", &[r"a \b", "c d"]),
            (r#"--x="y z""#, &["--x=y z"]),
            (r#""" ''"#, &["", ""]),
            (r#""a\"b\n""#, &[r#"a"b\n"#]),
            ("${HOME} $(x)", &["${HOME}", "$(x)"]),
        ];
        for (line, words) in cases {
            assert_eq!(
                split(line).as_deref(),
                Some(to_strings(words).as_slice()),
                "{line}"
            );
        }
        for line in ["'a", "\"a", "a\\"] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    fn to_strings(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }
}
