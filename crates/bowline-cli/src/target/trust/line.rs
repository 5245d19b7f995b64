//! Untrusted strings on one line of limited length, so nothing can be hidden in
//! them.

use crate::{output::escape_control, target::shell_quoted};

/// Maximum length of a string, in characters. Both ends of a longer one are
/// shown.
const MAX_TEXT: usize = 160;
const HEAD_CHARS: usize = 100;
const TAIL_CHARS: usize = 50;
/// Maximum length of a command line, in characters. For a longer one, the first
/// and the last arguments are shown.
const MAX_LINE: usize = 1_000;
const FIRST_ARGS: usize = 600;
const LAST_ARGS: usize = 300;
/// The longest run of blanks that is shown unchanged.
const MAX_BLANKS: usize = 8;

/// Returns a string that cannot look like more than one line, nor push others
/// out of sight by its length.
pub(super) fn bounded_line(text: &str) -> String {
    let text = escape_control(text)
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    truncate_middle(&collapse_blanks(&text))
}

/// Formats a command with its arguments as it would be typed, shortened if
/// necessary. The command itself is always included.
pub(super) fn command_line(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| shell_quoted(&bounded_line(word)))
        .collect();
    let line = words.join(" ");
    let (Some((command, args)), true) = (words.split_first(), line.chars().count() > MAX_LINE)
    else {
        return line;
    };
    let first = count_fitting(args.iter(), FIRST_ARGS);
    let last = count_fitting(args[first..].iter().rev(), LAST_ARGS);
    let omitted = args.len() - first - last;
    let head = [command].into_iter().chain(&args[..first]);
    let head: Vec<&str> = head.map(String::as_str).collect();
    let tail = args[args.len() - last..].join(" ");
    format!("{} ({omitted} arguments omitted) {tail}", head.join(" "))
}

/// Returns how many of these fit.
fn count_fitting<'a>(words: impl Iterator<Item = &'a String>, limit: usize) -> usize {
    let mut length = 0;
    let fits = |word: &&String| {
        length += word.chars().count() + 1;
        length <= limit
    };
    words.take_while(fits).count()
}

/// Replaces long runs of blanks by their length.
fn collapse_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_blank) {
        let (before, after) = rest.split_at(start);
        let end = after.find(|c| !is_blank(c)).unwrap_or(after.len());
        let (blanks, after) = after.split_at(end);
        out.push_str(before);
        match blanks.chars().count() {
            0..=MAX_BLANKS => out.push_str(blanks),
            count => out.push_str(&format!("({count} blanks)")),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns whether a character takes space but shows nothing.
fn is_blank(c: char) -> bool {
    let others = [
        '\u{2800}', '\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}', '\u{ad}',
    ];
    c.is_whitespace() || others.contains(&c)
}

/// Removes the middle of a string that is too long.
fn truncate_middle(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_TEXT {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD_CHARS).collect();
    let tail: String = text.chars().skip(length - TAIL_CHARS).collect();
    format!(
        "{head} … ({} characters omitted) … {tail}",
        length - HEAD_CHARS - TAIL_CHARS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_as_it_is() {
        for text in ["", "a", "a  b", "größer", "${KEY:-x}"] {
            assert_eq!(bounded_line(text), text);
        }
        let words = ["npx", "-y", "it's"].map(str::to_owned);
        assert_eq!(command_line(&words), r"npx -y 'it'\''s'");
        assert_eq!(command_line(&words[..1]), "npx");
    }

    #[test]
    fn lines_padding_and_length_hide_nothing() {
        assert_eq!(bounded_line("a\nb\tc\u{1b}"), "a\\nb\\tc\\u{1b}");
        let blanks = " \u{3000}\u{a0}".repeat(10);
        assert_eq!(bounded_line(&format!("a{blanks}b")), "a(30 blanks)b");
        assert_eq!(bounded_line(&" ".repeat(9)), "(9 blanks)");
        let long = format!("{}{}", "a".repeat(150), "b".repeat(150));
        let shown = format!(
            "{} … (150 characters omitted) … {}",
            "a".repeat(100),
            "b".repeat(50)
        );
        assert_eq!(bounded_line(&long), shown);
    }

    #[test]
    fn both_ends_of_a_long_command_are_shown() {
        let mut words = vec!["sh".to_owned()];
        words.extend((0..5000).map(|at| format!("arg{at}")));
        let line = command_line(&words);
        assert!(line.starts_with("sh arg0 arg1 "), "{line}");
        assert!(line.ends_with(" arg4998 arg4999"), "{line}");
        let (_, rest) = line.split_once('(').expect("a count");
        let (count, _) = rest.split_once(" arguments").expect("a count");
        let shown = line.matches("arg").count() - 1;
        assert_eq!(count.parse::<usize>(), Ok(5000 - shown), "{line}");
        assert!(line.chars().count() < MAX_LINE, "{line}");
    }
}
