//! Texts out of JSON strings, many bytes at a time: the way back from `escape`.

use std::borrow::Cow;

use super::{
    block::{self, Block},
    skip,
};

/// The text of the string that begins at `start`, behind its opening quote, and
/// the index behind the closing one. It is borrowed where it has no escapes.
/// None where it is no valid string.
pub(super) fn string(json: &str, start: usize) -> Option<(Cow<'_, str>, usize)> {
    let bytes = json.as_bytes();
    let special = special(bytes, start)?;
    if bytes[special] == b'"' {
        let text = json.get(start..special)?;
        return Some((Cow::Borrowed(text), special + 1));
    }
    let end = skip::string(bytes, special).ok()?;
    let text = unescape(json.get(start..end)?, special - start)?;
    Some((Cow::Owned(text), end + 1))
}

/// How many words of eight bytes are looked at before blocks are: most strings
/// are shorter.
const WORDS: usize = 4;

/// The index of the first byte from `at` on that cannot stand in a string as it
/// is.
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..WORDS {
        let Some(word) = bytes.get(at..)?.first_chunk() else {
            break;
        };
        if let Some(found) = block::first_special(*word) {
            return Some(at + found);
        }
        at += word.len();
    }
    while at < bytes.len() {
        let specials = Block::load(&bytes[at..]).specials();
        if specials != 0 {
            return Some(at + specials.trailing_zeros() as usize);
        }
        at += block::SIZE;
    }
    None
}

/// The text that is written between two quotes; `first` is the first place in
/// it that cannot be taken as it is.
fn unescape(written: &str, first: usize) -> Option<String> {
    let bytes = written.as_bytes();
    // An escape is longer than what it stands for, so that this is enough.
    let mut text = String::with_capacity(written.len());
    let mut from = 0;
    for at in (first..bytes.len()).step_by(block::SIZE) {
        let mut specials = Block::load(&bytes[at..]).specials();
        while specials != 0 {
            let place = at + specials.trailing_zeros() as usize;
            specials &= specials - 1;
            // The second half of an escape may look like another one.
            if place >= from {
                text.push_str(written.get(from..place)?);
                from = escape(written, place, &mut text)?;
            }
        }
    }
    text.push_str(written.get(from..)?);
    Some(text)
}

/// Takes the escape that begins at `place`, and says where it ends.
fn escape(written: &str, place: usize, text: &mut String) -> Option<usize> {
    let [b'\\', letter, ..] = written.as_bytes()[place..] else {
        return None;
    };
    text.push(match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return code_point(written, place, text),
        _ => return None,
    });
    Some(place + 2)
}

/// Takes the escape by number that begins at `place`. Beyond the first 65,536
/// code points it takes two of them.
fn code_point(written: &str, place: usize, text: &mut String) -> Option<usize> {
    let first = unit(written, place)?;
    let (point, end) = match first {
        0xd800..0xdc00 => {
            let second = unit(written, place + 6)?.checked_sub(0xdc00)?;
            let low = (second < 0x400).then_some(second)?;
            (0x1_0000 + ((first - 0xd800) << 10) + low, place + 12)
        }
        _ => (first, place + 6),
    };
    text.push(char::from_u32(point)?);
    Some(end)
}

/// The four digits of the escape that begins at `place`.
fn unit(written: &str, place: usize) -> Option<u32> {
    let digits = written.get(place..place + 6)?.strip_prefix("\\u")?;
    // The parser takes signs, too.
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hexadecimal.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a string, and whatever follows it, beside `serde_json`.
    fn check(quoted: &str) {
        let theirs: Option<String> = serde_json::from_str(quoted).ok();
        let ours = string(quoted, 1).filter(|(_, end)| *end == quoted.len());
        let ours = ours.map(|(text, _)| text.into_owned());
        assert_eq!(ours, theirs, "{quoted}");
    }

    #[test]
    fn every_character_at_every_place() {
        for special in ('\0'..='\u{100}').chain(['\u{2028}', '\u{ffff}', '😀']) {
            for length in [
                0, 1, 6, 7, 8, 9, 31, 32, 33, 62, 63, 64, 65, 95, 96, 97, 130,
            ] {
                let text = "a".repeat(length);
                check(&format!("\"{text}{special}\""));
                check(&format!("\"{text}\\{special}{text}\""));
                check(&format!("\"{text}\\u00{special}{text}\""));
            }
        }
    }

    #[test]
    fn halves_of_pairs_are_refused() {
        for written in [
            r"\ud83d\ude00",
            r"\uD83D\uDE00x",
            r"\ud83d",
            r"\ud83dx",
            r"\ud83d\n",
            r"\ud83d\u0041",
            r"\ud83d\ud83d",
            r"\ude00",
            r"\ude00\ud83d",
            r"\udbff\udfff",
            r"\ud800\udc00",
            r"\u+041",
            r"\u004",
            r"\u",
            r"\",
        ] {
            check(&format!("\"{written}\""));
            check(&format!("\"{}{written}\"", "a".repeat(60)));
        }
    }

    #[test]
    fn what_has_no_escapes_is_borrowed() {
        for length in 0..200 {
            let quoted = format!("\"{}\"", "é".repeat(length));
            let (text, end) = string(&quoted, 1).expect("it is a string");
            assert!(matches!(text, Cow::Borrowed(text) if text.len() == 2 * length));
            assert_eq!(end, quoted.len());
        }
    }

    #[test]
    fn a_string_that_does_not_end_is_none() {
        for length in [0, 1, 31, 32, 64, 100] {
            assert_eq!(string(&"a".repeat(length), 0), None);
            assert_eq!(string(&format!("{}\\\"", "a".repeat(length)), 0), None);
        }
        assert_eq!(string("", 1), None, "nor one that does not begin");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            check(&serde_json::to_string(&text).expect("a string"));
        }

        #[test]
        fn strings_are_read_as_serde_json_reads_them(
            written in r#"(\\[nrtbfu"\\/ax]|\\u[0-9a-fA-F]{4}|\\ud8[0-9]{2}\\ud[c-f][0-9]{2}|[ -~äé€😀\n]){0,200}"#,
        ) {
            check(&format!("\"{written}\""));
        }

        #[test]
        fn so_are_those_that_are_mostly_valid(
            written in r#"(\\[nrtbf"\\/]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude[0-9]{2}|[a-z€😀 ]{1,90}){0,20}"#,
        ) {
            check(&format!("\"{written}\""));
        }
    }
}
