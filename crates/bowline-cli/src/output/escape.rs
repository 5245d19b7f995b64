//! Text of others, made harmless for a terminal.

use std::{borrow::Cow, ops::RangeInclusive};

/// The same text, with every character that could steer a terminal shown
/// instead of obeyed. Line ends and tabs stay.
///
/// A server could otherwise move the cursor over what was printed before, or
/// set the title of the window, with the text of a tool or of an error.
pub(crate) fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    // Line ends of another system are line ends.
    let text = text.replace("\r\n", "\n");
    let mut cleaned = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_control(character) {
            cleaned.extend(character.escape_default());
        } else {
            cleaned.push(character);
        }
    }
    Cow::Owned(cleaned)
}

/// A name, with also those characters shown that join others in texts: two
/// names that look the same must be the same. It stays on its line.
pub(crate) fn escape_name(name: &str) -> Cow<'_, str> {
    let is_hidden = |character| is_control(character) || matches!(character, '\n' | '\t');
    let is_joining = |character| in_table(JOINERS, character);
    if !name.chars().any(|it| is_hidden(it) || is_joining(it)) {
        return Cow::Borrowed(name);
    }
    let mut cleaned = String::with_capacity(name.len() + 16);
    for character in name.chars() {
        match is_hidden(character) || is_joining(character) {
            true => cleaned.extend(character.escape_default()),
            false => cleaned.push(character),
        }
    }
    Cow::Owned(cleaned)
}

/// What does something rather than show something, beside control characters:
/// what ends lines or turns the direction of the text around it, and what
/// cannot be seen and yet is read by programs. All that Unicode says may be
/// ignored when it is shown is here, but for what is `JOINING`.
const INVISIBLE: &[RangeInclusive<char>] = &[
    // The hyphen that is not there, and the joiner that joins nothing.
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    // A mark of direction.
    '\u{61c}'..='\u{61c}',
    // Fillers of Hangul, and vowels of Khmer that nobody writes.
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    // Selectors and the separator of Mongolian.
    '\u{180b}'..='\u{180f}',
    // Of no width; marks of direction.
    '\u{200b}'..='\u{200b}',
    '\u{200e}'..='\u{200f}',
    // Ends of lines and paragraphs; overrides of direction.
    '\u{2028}'..='\u{202e}',
    // Invisible operators, isolates of direction.
    '\u{2060}'..='\u{206f}',
    // Another filler of Hangul.
    '\u{3164}'..='\u{3164}',
    // Selectors of variants, but for those of pictures.
    '\u{fe00}'..='\u{fe0d}',
    // The mark of byte order, the narrow filler, annotations.
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    // What steers shorthand and music.
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    // Tags, a whole alphabet that nobody sees, and more selectors.
    '\u{e0000}'..='\u{e0fff}',
];

/// What joins letters, as some languages want it, and pictures.
const JOINERS: &[RangeInclusive<char>] = &['\u{200c}'..='\u{200d}', '\u{fe0e}'..='\u{fe0f}'];

fn in_table(table: &[RangeInclusive<char>], character: char) -> bool {
    table.iter().any(|range| range.contains(&character))
}

/// Whether a character does something rather than show something. What joins
/// letters and pictures stays.
pub(super) fn is_control(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        ' '..='~' => false,
        _ => character.is_control() || in_table(INVISIBLE, character),
    }
}

/// The same JSON, with such characters written as escapes. They occur only in
/// strings, where that means the same.
pub(super) fn push_escaped(character: char, json: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        json.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Unicode says may be ignored when it is shown
    /// (`Default_Ignorable_Code_Point`), from first to last.
    const IGNORABLE: [(u32, u32); 17] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    #[test]
    fn nothing_that_may_be_ignored_passes() {
        for character in '\0'..=char::MAX {
            let code = u32::from(character);
            let ignorable = IGNORABLE
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&code));
            // Ends of lines and paragraphs, and annotations, which are not.
            let other = matches!(code, 0x2028 | 0x2029 | 0xfff9..=0xfffb);
            let hidden = ignorable || other || character.is_control();
            let text = format!("a{character}b");
            let joins = matches!(code, 0x200c | 0x200d | 0xfe0e | 0xfe0f);
            let stays = joins || matches!(character, '\n' | '\t');
            assert_eq!(escape_control(&text) != text, hidden && !stays, "{code:x}");
            assert_eq!(escape_name(&text) != text, hidden, "{code:x}");
            if hidden {
                assert!(escape_name(&text).is_ascii(), "{code:x}");
            }
        }
    }

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
        for (input, expected) in cases {
            assert_eq!(escape_control(input), expected, "{input:?}");
        }
    }
}
