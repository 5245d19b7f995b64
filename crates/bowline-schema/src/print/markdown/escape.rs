//! Text from strangers in Markdown.

use std::fmt::Write as _;

use crate::print::hidden::is_hidden;

/// Writes a text on one line, so that it means nothing but itself.
///
/// ```
/// use bowline_schema::print::markdown::text;
///
/// assert_eq!(text("# <b>snake_case</b>\n- *x*"), "\\# \\<b>snake_case\\</b> - \\*x\\*");
/// ```
#[must_use]
pub fn text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    escaped_line(&words.join(" "))
}

/// Writes a text of several lines and paragraphs, so that it means nothing but itself.
/// Lines after the first begin with `indent` spaces. There is no line break at the end.
///
/// ```
/// use bowline_schema::print::markdown::paragraphs;
///
/// let text = "Options:\n- a\n- b\n\n\nAnd\nmore";
/// assert_eq!(paragraphs(text, 2), "Options:\\\n  \\- a\\\n  \\- b\n\n  And\n  more");
/// ```
#[must_use]
pub fn paragraphs(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut out = String::new();
    let mut is_new_paragraph = false;
    let text = text.replace("\r\n", "\n");
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let line = line.trim();
        if line.is_empty() {
            is_new_paragraph = true;
            continue;
        }
        if !out.is_empty() {
            out.push_str(match is_new_paragraph {
                true => "\n\n",
                // Lists are not lists any more, but keep their lines.
                false if is_list_item(line) => "\\\n",
                false => "\n",
            });
            out.push_str(&margin);
        }
        is_new_paragraph = false;
        out.push_str(&self::text(line));
    }
    out
}

/// Writes a text as code, on one line.
///
/// ```
/// use bowline_schema::print::markdown::code;
///
/// assert_eq!(code("a | b"), "`a | b`");
/// assert_eq!(code("`a`"), "`` `a` ``");
/// assert_eq!(code("{{x}}"), "<code>&#123;&#123;x&#125;&#125;</code>");
/// ```
#[must_use]
pub fn code(text: &str) -> String {
    let characters = text.chars().map(|c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        c => c,
    });
    let mut shown = String::with_capacity(text.len());
    shown.extend(characters.filter(|c| !is_hidden(*c)));
    // Some programs replace these before they read Markdown.
    if shown.contains("{{") || shown.contains("{%") {
        return html_code(&shown);
    }
    let runs = shown.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    let is_padded = shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']);
    match is_padded || shown.is_empty() {
        true => format!("{fence} {shown} {fence}"),
        false => format!("{fence}{shown}{fence}"),
    }
}

fn html_code(text: &str) -> String {
    let mut out = String::from("<code>");
    for c in text.chars() {
        match c.is_ascii_punctuation() {
            // Writing to a string cannot fail.
            true => drop(write!(out, "&#{};", u32::from(c))),
            false => out.push(c),
        }
    }
    out.push_str("</code>");
    out
}

/// Escapes a line. What is in backticks stays code.
fn escaped_line(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, inside, after)) = split_code(rest) {
        escape(before, out.is_empty(), &mut out);
        out.push_str(&code(inside));
        rest = after;
    }
    escape(rest, out.is_empty(), &mut out);
    out
}

/// Finds the first code in a line: what is between two equally long runs of backticks.
fn split_code(line: &str) -> Option<(&str, &str, &str)> {
    let (before, from) = line.split_at(line.find('`')?);
    let inside = from.trim_start_matches('`');
    let fence = &from[..from.len() - inside.len()];
    let end = inside.find(fence)?;
    let (inside, after) = inside.split_at(end);
    let after = &after[fence.len()..];
    let is_code = !inside.trim().is_empty() && !after.starts_with('`');
    is_code.then(|| (before, inside.trim(), after))
}

fn escape(text: &str, is_start: bool, out: &mut String) {
    let chars: Vec<char> = text.chars().filter(|c| !is_hidden(*c)).collect();
    let ordinal = ordinal_end(&chars).filter(|_| is_start);
    out.reserve(text.len());
    for (at, c) in chars.iter().enumerate() {
        let previous = at.checked_sub(1).map(|before| chars[before]);
        let next = chars.get(at + 1).copied();
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_special = match c {
            '\\' | '`' | '*' | '[' | '<' | '|' | '$' | '{' => true,
            '~' => previous != Some('/'),
            '_' => !(is_word(previous) && is_word(next)),
            '&' => is_word(next) || next == Some('#'),
            '%' => previous == Some('{'),
            '#' | '>' | '-' | '+' | '=' | ':' => at == 0 && is_start,
            '.' | ')' => ordinal == Some(at),
            _ => false,
        };
        if is_special {
            out.push('\\');
        }
        out.push(*c);
    }
}

/// Returns where the number ends that would begin a list.
fn ordinal_end(chars: &[char]) -> Option<usize> {
    let end = chars.iter().position(|c| !c.is_ascii_digit())?;
    let is_mark = end > 0 && matches!(chars[end], '.' | ')');
    let is_followed = chars.get(end + 1).is_none_or(|c| *c == ' ');
    (is_mark && is_followed).then_some(end)
}

fn is_list_item(line: &str) -> bool {
    let chars: Vec<char> = line.chars().take(12).collect();
    line.starts_with(['-', '*', '+', '•']) || ordinal_end(&chars).is_some()
}

#[cfg(test)]
mod tests {
    use super::{code, paragraphs, text};

    #[test]
    fn text_means_nothing_but_itself() {
        let cases = [
            (
                "plain text, with a full stop.",
                "plain text, with a full stop.",
            ),
            ("## Heading", "\\## Heading"),
            ("> quote", "\\> quote"),
            ("1. one 2. two", "1\\. one 2. two"),
            ("1.2.3", "1.2.3"),
            ("--- \n ===", "\\--- ==="),
            ("[x](javascript:y) ![i](z)", "\\[x](javascript:y) !\\[i](z)"),
            ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
            ("&lt; & AT&T", "\\&lt; & AT\\&T"),
            ("a_b _c_ __d__", "a_b \\_c\\_ \\_\\_d\\_\\_"),
            ("a | b\n--|--", "a \\| b --\\|--"),
            ("{{#include /etc/passwd}}", "\\{\\{#include /etc/passwd}}"),
            ("{% include x %}", "\\{\\% include x %}"),
            ("a\u{202e}b\u{0}c", "abc"),
            ("a `b_c` `` d` `` `e", "a `b_c` `` d` `` \\`e"),
            ("``` x", "\\`\\`\\` x"),
            ("`{{x}}`", "<code>&#123;&#123;x&#125;&#125;</code>"),
            ("C:\\x $z$ ~~w~~", "C:\\\\x \\$z\\$ \\~\\~w\\~\\~"),
            ("https://a.b/~c_d", "https://a.b/~c_d"),
        ];
        for (given, expected) in cases {
            assert_eq!(text(given), expected, "{given}");
        }
    }

    #[test]
    fn lines_and_paragraphs_are_kept() {
        let cases = [
            ("", ""),
            (" one ", "one"),
            ("one\n    code\n# two", "one\ncode\n\\# two"),
            ("one\r\n\r\n\r\ntwo\n", "one\n\ntwo"),
            ("x:\n1) a\n• b", "x:\\\n1\\) a\\\n• b"),
        ];
        for (given, expected) in cases {
            assert_eq!(paragraphs(given, 0), expected, "{given}");
        }
    }

    #[test]
    fn code_cannot_end_early() {
        let cases = [
            ("", "`  `"),
            ("a`b", "``a`b``"),
            ("``", "``` `` ```"),
            ("a\nb\u{200b}", "`a b`"),
            (
                "{% raw %}<b>",
                "<code>&#123;&#37; raw &#37;&#125;&#60;b&#62;</code>",
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(code(given), expected, "{given}");
        }
    }
}
