//! Unescaping of JSON strings, many bytes at a time: the inverse of `escape`.

use std::borrow::Cow;

use super::block::{self, Block};
use crate::jsonrpc::skip;

/// Decodes the string that begins at `start`, after its opening quote, and
/// returns it with the index after the closing quote. It is borrowed if it has
/// no escapes. Returns `None` if it is not a valid string.
pub(super) fn string(json: &str, start: usize) -> Option<(Cow<'_, str>, usize)> {
    let bytes = json.as_bytes();
    let special = first_special(bytes, start)?;
    if bytes[special] == b'"' {
        let text = json.get(start..special)?;
        return Some((Cow::Borrowed(text), special + 1));
    }
    let end = skip::string(bytes, special).ok()?;
    let text = unescape(json.get(start..end)?, special - start)?;
    Some((Cow::Owned(text), end + 1))
}

/// Returns the index of the first byte from `at` on that cannot be copied
/// unchanged.
fn first_special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() {
        let specials = Block::load(&bytes[at..]).specials();
        if specials != 0 {
            return Some(at + specials.trailing_zeros() as usize);
        }
        at += block::SIZE;
    }
    None
}

/// Unescapes the content between two quotes; `first` is the index of the first
/// byte that cannot be copied unchanged.
fn unescape(escaped: &str, first: usize) -> Option<String> {
    let bytes = escaped.as_bytes();
    // An escape is longer than the character it encodes, so this is enough.
    let mut out = String::with_capacity(escaped.len());
    let mut copied = 0;
    for at in (first..bytes.len()).step_by(block::SIZE) {
        let mut specials = Block::load(&bytes[at..]).specials();
        while specials != 0 {
            let index = at + specials.trailing_zeros() as usize;
            specials &= specials - 1;
            // The second half of an escape may look like another one.
            if index >= copied {
                out.push_str(escaped.get(copied..index)?);
                copied = unescape_at(escaped, index, &mut out)?;
            }
        }
    }
    out.push_str(escaped.get(copied..)?);
    Some(out)
}

/// Decodes the escape that begins at `index`, and returns where it ends.
fn unescape_at(escaped: &str, index: usize, out: &mut String) -> Option<usize> {
    let [b'\\', code, ..] = escaped.as_bytes()[index..] else {
        return None;
    };
    out.push(match code {
        b'"' | b'\\' | b'/' => char::from(code),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return push_code_point(escaped, index, out),
        _ => return None,
    });
    Some(index + 2)
}

/// Decodes the numeric escape that begins at `index`. Beyond the first 65,536
/// code points it is a pair of them.
fn push_code_point(escaped: &str, index: usize, out: &mut String) -> Option<usize> {
    let first = parse_code_unit(escaped, index)?;
    let (point, end) = match first {
        0xd800..0xdc00 => {
            let second = parse_code_unit(escaped, index + 6)?.checked_sub(0xdc00)?;
            let low = (second < 0x400).then_some(second)?;
            (0x1_0000 + ((first - 0xd800) << 10) + low, index + 12)
        }
        _ => (first, index + 6),
    };
    out.push(char::from_u32(point)?);
    Some(end)
}

/// Parses the four digits of the escape that begins at `index`.
fn parse_code_unit(escaped: &str, index: usize) -> Option<u32> {
    let digits = escaped.get(index..index + 6)?.strip_prefix("\\u")?;
    // The parser also accepts signs.
    let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all_hex.then(|| u32::from_str_radix(digits, 16).ok())?
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
        for escaped in [
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
            check(&format!("\"{escaped}\""));
            check(&format!("\"{}{escaped}\"", "a".repeat(60)));
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
            escaped in r#"(\\[nrtbfu"\\/ax]|\\u[0-9a-fA-F]{4}|\\ud8[0-9]{2}\\ud[c-f][0-9]{2}|[ -~äé€😀\n]){0,200}"#,
        ) {
            check(&format!("\"{escaped}\""));
        }

        #[test]
        fn so_are_those_that_are_mostly_valid(
            escaped in r#"(\\[nrtbf"\\/]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude[0-9]{2}|[a-z€😀 ]{1,90}){0,20}"#,
        ) {
            check(&format!("\"{escaped}\""));
        }
    }
}
