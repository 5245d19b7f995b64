//! Escaping untrusted text for terminals.

use std::{borrow::Cow, ops::RangeInclusive};

/// Escapes every character that could control a terminal. Newlines and tabs
/// stay.
///
/// Otherwise the text of a tool or an error could move the cursor over earlier
/// output, or set the window title.
pub(crate) fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    // CRLF counts as a newline.
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

/// Escapes a name. Joiners are escaped too: two names that look the same must
/// be the same. The result stays on one line.
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

/// Characters, besides control characters, that have an effect but no glyph:
/// line ends, changes of text direction, and invisible characters that programs
/// still read. Contains all of Unicode's `Default_Ignorable_Code_Point` except
/// `JOINERS`.
const INVISIBLE: &[RangeInclusive<char>] = &[
    // Soft hyphen, combining grapheme joiner.
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    // Arabic letter mark.
    '\u{61c}'..='\u{61c}',
    // Hangul fillers and unused Khmer vowels.
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    // Mongolian variation selectors and vowel separator.
    '\u{180b}'..='\u{180f}',
    // Zero-width space; direction marks.
    '\u{200b}'..='\u{200b}',
    '\u{200e}'..='\u{200f}',
    // Line and paragraph separators; direction overrides.
    '\u{2028}'..='\u{202e}',
    // Invisible operators, direction isolates.
    '\u{2060}'..='\u{206f}',
    // Hangul filler.
    '\u{3164}'..='\u{3164}',
    // Variation selectors, except those for emoji.
    '\u{fe00}'..='\u{fe0d}',
    // Byte order mark, halfwidth filler, interlinear annotations.
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    // Shorthand and musical format controls.
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    // Tag characters and more variation selectors.
    '\u{e0000}'..='\u{e0fff}',
];

/// Characters that join letters in some scripts, and emoji.
const JOINERS: &[RangeInclusive<char>] = &['\u{200c}'..='\u{200d}', '\u{fe0e}'..='\u{fe0f}'];

fn in_table(table: &[RangeInclusive<char>], character: char) -> bool {
    table.iter().any(|range| range.contains(&character))
}

/// Returns whether a character has an effect rather than a glyph. Joiners do
/// not count.
pub(super) fn is_control(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        ' '..='~' => false,
        _ => character.is_control() || in_table(INVISIBLE, character),
    }
}

/// Appends the character as a JSON escape. Such characters occur only in
/// strings, where the escape means the same.
pub(super) fn push_escaped(character: char, json: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        json.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unicode's `Default_Ignorable_Code_Point`, as inclusive ranges.
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
            // Separators and annotations are not default-ignorable.
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
            // Joiners as used by scripts and emoji.
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
