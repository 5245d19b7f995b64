//! Breaking lines to fit the terminal.

use std::io::{self, IsTerminal as _};

/// The maximum width that is easy to read.
const MAX_WIDTH: usize = 110;
/// The width without a terminal.
const DEFAULT_WIDTH: usize = 100;
const MIN_WIDTH: usize = 40;

/// Returns the width for results.
pub(crate) fn terminal_width() -> usize {
    if !io::stdout().is_terminal() {
        return DEFAULT_WIDTH;
    }
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.unwrap_or(DEFAULT_WIDTH).clamp(MIN_WIDTH, MAX_WIDTH)
}

/// Wraps text at `width` characters, where possible. Existing newlines stay.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines()
        .flat_map(|line| wrap_line(line, width))
        .collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let content = line.trim_start();
    // Indented lines, such as lists and examples, stay indented.
    let indent = &line[..line.len() - content.len()];
    fill(content.split_whitespace(), indent, indent, width)
}

/// Puts pieces on lines, separated by spaces.
pub(crate) fn fill<'a>(
    pieces: impl Iterator<Item = &'a str>,
    first: &str,
    hanging: &str,
    width: usize,
) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut empty = true;
    for piece in pieces {
        let line = lines.last_mut().expect("there is a line");
        let space = usize::from(!empty);
        if !empty && line.chars().count() + space + piece.chars().count() > width {
            lines.push(format!("{hanging}{piece}"));
            continue;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(piece);
        empty = false;
    }
    lines
}

/// Cuts text to `width` characters, with an ellipsis.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let prefix: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", prefix.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{shorten, wrap};

    #[test]
    fn lines_are_broken_between_words() {
        let text = "one two three\n\n  - four five six\nunbreakable";
        let lines = wrap(text, 10);
        assert_eq!(
            lines,
            [
                "one two",
                "three",
                "",
                "  - four",
                "  five six",
                "unbreakable"
            ],
        );
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(shorten("größer", 6), "größer");
        assert_eq!(shorten("größer als", 6), "größe…");
    }
}
