//! Text of others, made harmless for a terminal.

use std::borrow::Cow;

/// The same text, with every character that could steer a terminal shown
/// instead of obeyed. Line ends and tabs stay.
///
/// A server could otherwise move the cursor over what was printed before, or
/// set the title of the window, with the text of a tool or of an error.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    // Line ends of another system are line ends.
    let text = text.replace("\r\n", "\n");
    let mut cleaned = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if steers(character) {
            cleaned.extend(character.escape_default());
        } else {
            cleaned.push(character);
        }
    }
    Cow::Owned(cleaned)
}

/// Whether a character does something rather than show something: control
/// characters, and those that turn the direction of the text around them.
pub(super) fn steers(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn only_what_steers_is_changed() {
        let cases = [
            (
                "plain, größer, 日本\n\tindented",
                "plain, größer, 日本\n\tindented",
            ),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("over\rwritten", "over\\rwritten"),
            ("c1 \u{9b}31m", "c1 \\u{9b}31m"),
            ("abc\u{202e}def", "abc\\u{202e}def"),
            ("del\u{7f}", "del\\u{7f}"),
        ];
        for (given, shown) in cases {
            assert_eq!(clean(given), shown, "{given:?}");
        }
    }
}
