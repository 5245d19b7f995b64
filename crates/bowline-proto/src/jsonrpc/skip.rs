//! Getting past JSON values without decoding them.
//!
//! Only what is needed to find the end of a value is looked at: quotes,
//! backslashes and brackets. Whatever else may be wrong inside a value comes to
//! light when its slice is decoded; much of what arrives never is.

use memchr::memchr2;

use super::scan_error::{Fault, ScanErrorKind};

/// How many objects and arrays may be open at once, the message included.
///
/// The decoder allows 127 levels in a slice, and the message is one more, so
/// nothing that it would take is refused here.
pub(super) const DEPTH_LIMIT: u32 = 128;

/// The index of the first byte from `at` on that is not whitespace.
pub(super) fn whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The index of the quote that closes a string, and whether an escape stands
/// before it. `at` is behind the opening quote.
pub(super) fn string(bytes: &[u8], mut at: usize) -> Result<(usize, bool), Fault> {
    let mut escaped = false;
    while let Some(found) = quote_or_backslash(bytes, at) {
        if bytes[found] == b'"' {
            return Ok((found, escaped));
        }
        escaped = true;
        at = found + 2;
    }
    Err(Fault::new(ScanErrorKind::UnexpectedEnd, bytes.len()))
}

/// The index behind the value that begins at `at`, with `open` objects and
/// arrays around it.
///
/// Where `BOUNDED` is off, brackets beyond the depth limit are only counted:
/// that is for frames known to be broken, to get as far as one can.
pub(super) fn value<const BOUNDED: bool>(
    bytes: &[u8],
    at: usize,
    open: u32,
) -> Result<usize, Fault> {
    match bytes.get(at) {
        Some(b'"') => string(bytes, at + 1).map(|(end, _)| end + 1),
        Some(b'{' | b'[') => container::<BOUNDED>(bytes, at, open),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => scalar(bytes, at),
        Some(_) => Err(Fault::new(ScanErrorKind::NotJson, at)),
        None => Err(Fault::new(ScanErrorKind::UnexpectedEnd, at)),
    }
}

/// A number or a name ends where a delimiter begins. One that touches the end
/// of the input is not complete: every value here stands inside a bracket.
fn scalar(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let delimiter = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
    match bytes[at..].iter().position(delimiter) {
        Some(length) => Ok(at + length),
        None => Err(Fault::new(ScanErrorKind::UnexpectedEnd, bytes.len())),
    }
}

/// Iterative, so that no input can exhaust the stack; the kinds of the open
/// brackets are bits of one integer.
fn container<const BOUNDED: bool>(bytes: &[u8], mut at: usize, open: u32) -> Result<usize, Fault> {
    let (mut depth, mut kinds) = (0_u32, 0_u128);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match CLASSES[usize::from(byte)] {
            Class::Plain => {}
            Class::Quote => at = string(bytes, at)?.0 + 1,
            Class::Open => {
                depth += 1;
                if open + depth <= DEPTH_LIMIT {
                    kinds = (kinds << 1) | kind(byte);
                } else if BOUNDED {
                    return Err(Fault::new(ScanErrorKind::TooDeep, at - 1));
                }
            }
            Class::Close => {
                if BOUNDED || open + depth <= DEPTH_LIMIT {
                    if kinds & 1 != kind(byte) {
                        return Err(Fault::new(ScanErrorKind::Mismatched, at - 1));
                    }
                    kinds >>= 1;
                }
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
    Err(Fault::new(ScanErrorKind::UnexpectedEnd, bytes.len()))
}

/// The bit in which `{` and `}` differ from `[` and `]`.
fn kind(bracket: u8) -> u128 {
    u128::from((bracket >> 5) & 1)
}

#[derive(Clone, Copy)]
enum Class {
    Plain,
    Quote,
    Open,
    Close,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    classes[b'"' as usize] = Class::Quote;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes
};

/// How many words of eight bytes are searched before the vectorised search is
/// worth its call.
const WORDS: usize = 4;

/// The index of the first `"` or `\` from `at` on.
fn quote_or_backslash(bytes: &[u8], at: usize) -> Option<usize> {
    let mut rest = bytes.get(at..)?;
    for _ in 0..WORDS {
        let Some((word, tail)) = rest.split_first_chunk::<8>() else {
            let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            return Some(bytes.len() - rest.len() + found);
        };
        let word = u64::from_le_bytes(*word);
        let hits = equal(word, b'"') | equal(word, b'\\');
        if hits != 0 {
            let found = hits.trailing_zeros() as usize / 8;
            return Some(bytes.len() - rest.len() + found);
        }
        rest = tail;
    }
    memchr2(b'"', b'\\', rest).map(|found| bytes.len() - rest.len() + found)
}

/// Sets the top bit of the lowest byte of `word` that equals `byte`. Bits above
/// that one mean nothing: the subtraction may have borrowed through them.
fn equal(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & TOPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_quote_at_every_distance() {
        for length in 0..200 {
            let mut text = vec![b'#'; length];
            text.extend_from_slice(b"\"!!\"");
            assert_eq!(string(&text, 0), Ok((length, false)), "length {length}");
        }
    }

    #[test]
    fn finds_an_escape_at_every_distance() {
        for length in 0..200 {
            let mut text = vec![b'#'; length];
            text.extend_from_slice(br#"\"tail" "#);
            assert_eq!(string(&text, 0), Ok((length + 6, true)), "length {length}");
        }
    }

    #[test]
    fn bytes_near_the_sought_ones_are_not_taken_for_them() {
        let near: Vec<u8> = (0..=255).filter(|b| !matches!(b, b'"' | b'\\')).collect();
        for start in 0..near.len() {
            let mut text = near[start..].to_vec();
            text.push(b'"');
            assert_eq!(string(&text, 0), Ok((text.len() - 1, false)));
        }
    }

    #[test]
    fn an_open_string_is_an_early_end() {
        for text in ["", "abc", r"abc\", r#"abc\""#, r"\"] {
            let fault = Fault::new(ScanErrorKind::UnexpectedEnd, text.len());
            assert_eq!(string(text.as_bytes(), 0), Err(fault), "{text}");
        }
    }

    #[test]
    fn nesting_counts_what_is_around_the_value() {
        let deep = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
        assert_eq!(value::<true>(&deep(128), 0, 0), Ok(256));
        let fault = |offset| Err(Fault::new(ScanErrorKind::TooDeep, offset));
        assert_eq!(value::<true>(&deep(129), 0, 0), fault(128));
        assert_eq!(value::<true>(&deep(127), 0, 1), Ok(254));
        assert_eq!(value::<true>(&deep(128), 0, 1), fault(127));
        assert_eq!(value::<false>(&deep(5000), 0, 1), Ok(10_000));
    }

    #[test]
    fn brackets_match_by_kind() {
        let fault = Err(Fault::new(ScanErrorKind::Mismatched, 2));
        assert_eq!(value::<true>(b"[{]}", 0, 0), fault);
        assert_eq!(value::<true>(b"{[}]", 0, 0), fault);
        assert_eq!(value::<false>(b"{[}]", 0, 0), fault, "in any case");
        assert_eq!(value::<true>(br#"{"]":["}"]} "#, 0, 0), Ok(11));
    }
}
