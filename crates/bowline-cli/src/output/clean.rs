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
/// characters, those that end lines or turn the direction of the text around
/// them, and those that cannot be seen and yet are read by programs. What joins
/// letters and pictures stays.
pub(super) fn steers(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, overrides and isolates of direction; ends of lines and
        // paragraphs.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2066}'..='\u{206f}' => true,
        // Of no width, invisible operators, annotations.
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags: a whole alphabet that nobody sees.
        '\u{e0000}'..='\u{e00ff}' => true,
        _ => character.is_control(),
    }
}

/// The same JSON, with such characters written as escapes. They occur only in
/// strings, where that means the same.
pub(super) fn escaped(character: char, json: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        json.push_str(&format!("\\u{unit:04x}"));
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
            ("line\u{2028}end\u{2029}", "line\\u{2028}end\\u{2029}"),
            ("tag\u{e0041}\u{e007f}", "tag\\u{e0041}\\u{e007f}"),
            (
                "hidden\u{200b}\u{2062}\u{feff}",
                "hidden\\u{200b}\\u{2062}\\u{feff}",
            ),
            ("mark\u{61c}\u{200f}", "mark\\u{61c}\\u{200f}"),
            // Joined as their languages, and pictures, want it.
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}",
                "\u{645}\u{6cc}\u{200c}\u{62e}",
            ),
            (
                "\u{1f469}\u{200d}\u{1f680}\u{fe0f}",
                "\u{1f469}\u{200d}\u{1f680}\u{fe0f}",
            ),
        ];
        for (given, shown) in cases {
            assert_eq!(clean(given), shown, "{given:?}");
        }
    }
}
