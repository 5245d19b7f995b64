//! Skipping of JSON values without decoding them.
//!
//! Only what is needed to find the end of a value is checked: quotes,
//! backslashes and brackets. Other faults inside a value are found when its
//! slice is decoded; much of what arrives never is.

use memchr::memchr;

use super::{
    fast::block::{self, Block},
    scan_error::{ScanErrorKind, ScanFault},
};

/// The maximum number of nested objects and arrays, including the message.
///
/// The decoder allows 127 levels in a slice, and the message is one more, so
/// nothing that it would accept is refused here.
const MAX_DEPTH: u32 = 128;

/// Returns the index of the first byte from `at` on that is not whitespace.
pub(super) fn whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the index of the quote that closes a JSON string; `start` is the
/// index after the opening one. The content of the string is not checked.
///
/// ```
/// use bowline_proto::jsonrpc::closing_quote;
///
/// assert_eq!(closing_quote(r#"["a\"b\\", 7]"#, 2), Some(8));
/// assert_eq!(closing_quote(r#"["a\"]"#, 2), None);
/// ```
#[must_use]
pub fn closing_quote(json: &str, start: usize) -> Option<usize> {
    string(json.as_bytes(), start).ok()
}

/// Returns the index of the closing quote; `at` is the index after the opening
/// one.
pub(super) fn string(bytes: &[u8], mut at: usize) -> Result<usize, ScanFault> {
    while let Some(found) = find_quote(bytes, at) {
        if !is_escaped(bytes, found) {
            return Ok(found);
        }
        at = found + 1;
    }
    Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, bytes.len()))
}

/// Returns the index after the value that begins at `at`, with `depth` objects
/// and arrays around it.
///
/// If `BOUNDED` is false, brackets beyond the depth limit are only counted: for
/// frames known to be broken, to get as far as possible.
pub(super) fn value<const BOUNDED: bool>(
    bytes: &[u8],
    at: usize,
    outer_depth: u32,
) -> Result<usize, ScanFault> {
    match bytes.get(at) {
        Some(b'"') => string(bytes, at + 1).map(|end| end + 1),
        Some(b'{' | b'[') => container::<BOUNDED>(bytes, at, outer_depth),
        Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => scalar(bytes, at),
        Some(_) => Err(ScanFault::new(ScanErrorKind::NotJson, at)),
        None => Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, at)),
    }
}

/// A number or a literal must end at a delimiter. One that ends with the input
/// is not complete: every value here is inside a bracket.
fn scalar(bytes: &[u8], at: usize) -> Result<usize, ScanFault> {
    let is_scalar_byte =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let length = bytes[at..]
        .iter()
        .take_while(|byte| is_scalar_byte(byte))
        .count();
    let end = at + length;
    match bytes.get(end) {
        Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') => Ok(end),
        Some(_) => Err(ScanFault::new(ScanErrorKind::NotJson, end)),
        None => Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, end)),
    }
}

/// Iterative, so no input can exhaust the stack.
fn container<const BOUNDED: bool>(
    bytes: &[u8],
    mut at: usize,
    outer_depth: u32,
) -> Result<usize, ScanFault> {
    let mut nesting = Nesting::new(outer_depth);
    let mut in_string = false;
    while at < bytes.len() {
        let block = Block::load(&bytes[at..]);
        let mut quotes = block.quotes();
        if in_string && all_escaped(bytes, at, quotes) {
            // A long string: only its end matters, and searching for that alone
            // is several times as fast.
            at += block::SIZE;
            if quotes == 0 {
                match memchr(b'"', &bytes[at.min(bytes.len())..]) {
                    Some(found) => at += found,
                    None => break,
                }
            }
            continue;
        }
        if quotes != 0 {
            let backslashes = block.backslashes();
            let starts_escaped = is_escaped(bytes, at);
            if backslashes != 0 || starts_escaped {
                quotes &= !block::escaped_positions(backslashes, starts_escaped);
            }
        }
        let strings = block::inside_strings(quotes) ^ if in_string { u64::MAX } else { 0 };
        in_string = strings >> (block::SIZE - 1) == 1;
        let mut brackets = block.brackets() & !strings;
        while brackets != 0 {
            let index = at + brackets.trailing_zeros() as usize;
            if nesting.bracket::<BOUNDED>(bytes[index], index)? {
                return Ok(index + 1);
            }
            brackets &= brackets - 1;
        }
        at += block::SIZE;
    }
    Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, bytes.len()))
}

/// The open brackets of a value.
struct Nesting {
    /// The number of brackets open around the value.
    outer_depth: u32,
    depth: u32,
    /// The kinds of the brackets, the innermost in the lowest bit.
    kinds: u128,
}

impl Nesting {
    fn new(outer_depth: u32) -> Self {
        Self {
            outer_depth,
            depth: 0,
            kinds: 0,
        }
    }

    /// Processes the byte at `at`, and returns whether it ends the value.
    #[inline]
    fn bracket<const BOUNDED: bool>(&mut self, byte: u8, at: usize) -> Result<bool, ScanFault> {
        // The bit in which `{` and `}` differ from `[` and `]`.
        let kind = u128::from((byte >> 5) & 1);
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                if self.outer_depth + self.depth <= MAX_DEPTH {
                    self.kinds = (self.kinds << 1) | kind;
                } else if BOUNDED {
                    return Err(ScanFault::new(ScanErrorKind::TooDeep, at));
                }
            }
            b'}' | b']' => {
                if BOUNDED || self.outer_depth + self.depth <= MAX_DEPTH {
                    if self.kinds & 1 != kind {
                        return Err(ScanFault::new(ScanErrorKind::MismatchedBracket, at));
                    }
                    self.kinds >>= 1;
                }
                self.depth -= 1;
                return Ok(self.depth == 0);
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Returns whether none of the quotes in the block at `at` ends a string.
fn all_escaped(bytes: &[u8], at: usize, mut quotes: u64) -> bool {
    while quotes != 0 {
        if !is_escaped(bytes, at + quotes.trailing_zeros() as usize) {
            return false;
        }
        quotes &= quotes - 1;
    }
    true
}

/// Returns whether an odd number of backslashes directly precedes `at`.
#[inline(always)]
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].last() == Some(&b'\\') && ends_in_odd_backslashes(&bytes[..at])
}

#[cold]
fn ends_in_odd_backslashes(bytes: &[u8]) -> bool {
    let backslashes = bytes.iter().rev().take_while(|&&byte| byte == b'\\');
    backslashes.count() % 2 == 1
}

/// The number of eight-byte words to search before calling the vectorised
/// search is worth it.
const WORDS: usize = 4;

/// Returns the index of the first quote from `at` on.
fn find_quote(bytes: &[u8], at: usize) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    let mut rest = bytes.get(at..)?;
    for _ in 0..WORDS {
        let Some((word, tail)) = rest.split_first_chunk() else {
            break;
        };
        // The top bit of the lowest byte that is a quote is set. Bits above it
        // are meaningless: the subtraction may have borrowed through them.
        let difference = u64::from_le_bytes(*word) ^ QUOTES;
        let hits = difference.wrapping_sub(ONES) & !difference & TOPS;
        if hits != 0 {
            return Some(bytes.len() - rest.len() + hits.trailing_zeros() as usize / 8);
        }
        rest = tail;
    }
    memchr(b'"', rest).map(|found| bytes.len() - rest.len() + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: ScanErrorKind = ScanErrorKind::UnexpectedEnd;

    fn fault<T>(kind: ScanErrorKind, offset: usize) -> Result<T, ScanFault> {
        Err(ScanFault::new(kind, offset))
    }

    #[test]
    fn finds_a_quote_at_every_distance() {
        for length in 0..200 {
            let text = ["#".repeat(length).as_str(), r#""!!""#].concat();
            assert_eq!(string(text.as_bytes(), 0), Ok(length), "length {length}");
        }
    }

    #[test]
    fn finds_an_escape_at_every_distance() {
        for length in 0..200 {
            let text = ["#".repeat(length).as_str(), r#"\\\"tail\\" "#].concat();
            assert_eq!(
                string(text.as_bytes(), 0),
                Ok(length + 10),
                "length {length}"
            );
        }
    }

    #[test]
    fn bytes_near_a_quote_are_not_taken_for_one() {
        let near: Vec<u8> = (0..=255)
            .filter(|&byte| byte != b'"' && byte != b'\\')
            .collect();
        for start in 0..near.len() {
            let text = [&near[start..], b"\""].concat();
            assert_eq!(string(&text, 0), Ok(text.len() - 1));
        }
    }

    #[test]
    fn an_open_string_is_an_early_end() {
        for text in ["", "abc", r"abc\", r#"abc\""#, r"\"] {
            assert_eq!(string(text.as_bytes(), 0), fault(END, text.len()), "{text}");
        }
    }

    #[test]
    fn scalars_end_at_delimiters() {
        for text in ["-1.5e+3,", "true]", "null}", "7 ", "7\n"] {
            assert_eq!(
                value::<true>(text.as_bytes(), 0, 1),
                Ok(text.len() - 1),
                "{text}"
            );
        }
        for text in ["t\"}", "7[", "7:", "7\\"] {
            assert_eq!(
                value::<true>(text.as_bytes(), 0, 1),
                fault(ScanErrorKind::NotJson, 1)
            );
        }
        assert_eq!(value::<true>(b"77", 0, 1), fault(END, 2));
    }

    #[test]
    fn strings_of_every_length_hide_their_brackets() {
        for length in 0..400 {
            for text in [r#"]}""#, r#"\"]""#, r#"\\\"]\\""#, r#"]\n\\""#] {
                let text = format!(r#"[{{"{}{text}:1}},["#, "#".repeat(length));
                assert_eq!(
                    value::<true>(text.as_bytes(), 0, 0),
                    fault(END, text.len()),
                    "{text}"
                );
                let text = format!("{text}]] ]");
                assert_eq!(
                    value::<true>(text.as_bytes(), 0, 0),
                    Ok(text.len() - 2),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn nesting_counts_what_is_around_the_value() {
        let deep = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
        let too_deep = |offset| fault(ScanErrorKind::TooDeep, offset);
        assert_eq!(value::<true>(&deep(128), 0, 0), Ok(256));
        assert_eq!(value::<true>(&deep(129), 0, 0), too_deep(128));
        assert_eq!(value::<true>(&deep(127), 0, 1), Ok(254));
        assert_eq!(value::<true>(&deep(128), 0, 1), too_deep(127));
        assert_eq!(value::<false>(&deep(5000), 0, 1), Ok(10_000));
    }

    #[test]
    fn brackets_match_by_kind() {
        let mismatched = fault(ScanErrorKind::MismatchedBracket, 2);
        assert_eq!(value::<true>(b"[{]}", 0, 0), mismatched);
        assert_eq!(value::<true>(b"{[}]", 0, 0), mismatched);
        assert_eq!(value::<false>(b"{[}]", 0, 0), mismatched, "in any case");
        assert_eq!(value::<true>(br#"{"]":["}"]} "#, 0, 0), Ok(11));
        assert_eq!(
            value::<true>(b"[Yy_\x7f] ", 0, 0),
            Ok(6),
            "none of them a bracket"
        );
    }
}
