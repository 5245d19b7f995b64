//! Escaping of strings to JSON, many bytes at a time.
//!
//! Most of a long response is text, and most text needs no escapes. Checking it
//! byte by byte would be a third of the work of such a response.

use super::block::{self, Block};

/// Appends a JSON string, the way `serde_json` writes it.
pub(in crate::jsonrpc) fn string(out: &mut Vec<u8>, value: &str) {
    let bytes = value.as_bytes();
    // Reserves space for escapes; without it, everything written so far would
    // have to move. Unused space is never touched.
    out.reserve(bytes.len() + bytes.len() / 4 + 2);
    out.push(b'"');
    escape_bytes(out, bytes);
    out.push(b'"');
}

/// Copies the parts between escapes in one piece each.
fn escape_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut written = 0;
    for at in (0..bytes.len()).step_by(block::SIZE) {
        let mut specials = Block::load(&bytes[at..]).specials();
        while specials != 0 {
            let index = at + specials.trailing_zeros() as usize;
            out.extend_from_slice(&bytes[written..index]);
            escape_byte(out, bytes[index]);
            written = index + 1;
            specials &= specials - 1;
        }
    }
    out.extend_from_slice(&bytes[written..]);
}

fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    let code = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
            out.extend_from_slice(br"\u00");
            out.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', code]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let mut ours = b"before".to_vec();
        string(&mut ours, text);
        let theirs = format!("before{}", serde_json::to_string(text).expect("a string"));
        assert_eq!(String::from_utf8(ours).expect("UTF-8"), theirs);
    }

    #[test]
    fn every_byte_at_every_place() {
        for special in ('\0'..='\u{100}').chain(['\u{2028}', '\u{ffff}', '😀']) {
            for length in [0, 1, 6, 7, 8, 9, 15, 62, 63, 64, 65, 127, 128, 130] {
                check(&format!("{}{special}", "a".repeat(length)));
                check(&format!("{special}{}{special}é", "~".repeat(length)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_text_is_written_as_serde_json_writes_it(text in any::<String>()) {
            check(&text);
        }

        #[test]
        fn so_is_text_with_many_escapes(text in "[\u{0}-\u{7f}\"\\\\\nä€😀]{0,300}") {
            check(&text);
        }
    }
}
