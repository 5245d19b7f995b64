//! Scanning of 64 bytes at a time, as bit masks.
//!
//! Searching for the next quote makes every step depend on the one before:
//! where a string ends is where the next search begins. Here all bytes of a
//! block are compared at once, and which of them are inside strings is
//! arithmetic on the bits, the same for any content. The idea is Langdale's and
//! Lemire's ("Parsing Gigabytes of JSON per Second"); the loops are written so
//! that the compiler turns them into vector instructions without `unsafe`.

/// The number of bytes in a block.
pub(in crate::jsonrpc) const SIZE: usize = 64;

/// A block of bytes; bit `i` of a mask is byte `i`.
#[derive(Clone, Copy)]
pub(in crate::jsonrpc) struct Block([u8; SIZE]);

impl Block {
    /// Loads the first bytes of `rest`, padded with spaces if there are too
    /// few.
    pub(in crate::jsonrpc) fn load(rest: &[u8]) -> Self {
        match rest.first_chunk() {
            Some(bytes) => Self(*bytes),
            None => {
                let mut bytes = [b' '; SIZE];
                bytes[..rest.len()].copy_from_slice(rest);
                Self(bytes)
            }
        }
    }

    /// Returns the mask of the quotes.
    pub(in crate::jsonrpc) fn quotes(&self) -> u64 {
        self.mask(|byte| byte == b'"')
    }

    /// Returns the mask of the backslashes.
    pub(in crate::jsonrpc) fn backslashes(&self) -> u64 {
        self.mask(|byte| byte == b'\\')
    }

    /// Returns the mask of the brackets, of all four kinds. One comparison is
    /// cheaper than four, so there are false positives: `Y`, `y`, `_` and
    /// delete. None of them occurs outside a string in JSON.
    pub(in crate::jsonrpc) fn brackets(&self) -> u64 {
        self.mask(|byte| byte | 0x26 == 0x7f)
    }

    /// Returns the mask of the bytes that must be escaped in a JSON string.
    pub(super) fn specials(&self) -> u64 {
        self.mask(is_special)
    }

    /// Vector instructions compare and combine whole rows of bytes, but have no
    /// common way to gather one bit of each byte. So the eight words of the
    /// block are combined, each in its own bit, and the resulting square of
    /// bits is transposed.
    #[inline(always)]
    fn mask(&self, hit: impl Fn(u8) -> bool) -> u64 {
        let mut hits = [0; SIZE];
        for ((out, &byte), bit) in hits.iter_mut().zip(&self.0).zip(WORD_BITS) {
            *out = if hit(byte) { bit } else { 0 };
        }
        let (words, _) = hits.as_chunks();
        let overlaid = words
            .iter()
            .fold(0, |all, word| all | u64::from_le_bytes(*word));
        if overlaid == 0 {
            0
        } else {
            transpose(overlaid)
        }
    }
}

/// Returns whether a byte must be escaped in a JSON string.
#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// For each byte of a block, the bit of its word.
const WORD_BITS: [u8; SIZE] = {
    let mut bits = [0; SIZE];
    let mut at = 0;
    while at < SIZE {
        bits[at] = 1 << (at / 8);
        at += 1;
    }
    bits
};

/// Transposes a square of eight by eight bits: first the bits of each two by
/// two, then the twos of each four by four, then the fours.
fn transpose(mut square: u64) -> u64 {
    const STEPS: [(u32, u64); 3] = [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ];
    for (distance, corner) in STEPS {
        let differing = (square ^ (square >> distance)) & corner;
        square ^= differing ^ (differing << distance);
    }
    square
}

/// Returns the mask of the escaped bytes: those after an odd number of
/// backslashes. `starts_escaped` is whether such a number directly precedes the
/// block.
pub(in crate::jsonrpc) fn escaped_positions(backslashes: u64, starts_escaped: bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = u64::from(starts_escaped);
    let backslashes = backslashes & !first;
    let starts = backslashes & !(backslashes << 1);
    // Adding a run's start to the run carries into the bit after it.
    let run_ends = |starts: u64| backslashes.wrapping_add(starts) & !backslashes;
    first | (run_ends(starts & EVEN) & !EVEN) | (run_ends(starts & !EVEN) & EVEN)
}

/// Returns the mask of the bytes in strings, each with its opening quote.
/// `quotes` must contain only unescaped ones: every bit is the parity of the
/// quotes up to it.
pub(in crate::jsonrpc) fn inside_strings(quotes: u64) -> u64 {
    let mut parity = quotes;
    for distance in [1, 2, 4, 8, 16, 32] {
        parity ^= parity << distance;
    }
    parity
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(bytes: &[u8], hit: impl Fn(u8) -> bool) -> u64 {
        let bit = |(at, &byte): (usize, &u8)| u64::from(hit(byte)) << at;
        bytes.iter().enumerate().map(bit).sum()
    }

    #[test]
    fn a_short_block_is_filled_with_spaces() {
        assert_eq!(Block::load(b"\"\\[").quotes(), 1);
        assert_eq!(Block::load(b"\"\\[").backslashes(), 2);
        assert_eq!(Block::load(b"\"\\[").brackets(), 4);
        assert_eq!(Block::load(b"").brackets(), 0);
    }

    #[test]
    fn every_place_has_its_bit() {
        for at in 0..SIZE {
            let mut bytes = [b'x'; SIZE];
            bytes[at] = b'"';
            assert_eq!(Block(bytes).quotes(), 1 << at);
        }
    }

    #[test]
    fn all_brackets_and_four_impostors() {
        let found: Vec<u8> = (0..=255)
            .filter(|&byte| Block::load(&[byte]).brackets() == 1)
            .collect();
        assert_eq!(found, b"Y[]_y{}\x7f");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn masks_are_what_they_say(bytes in any::<[u8; 32]>(), more in "[\"\\\\{}\\[\\]a]{32}") {
            let bytes = [bytes.as_slice(), more.as_bytes()].concat();
            let block = Block::load(&bytes);
            prop_assert_eq!(block.quotes(), naive(&bytes, |byte| byte == b'"'));
            prop_assert_eq!(block.backslashes(), naive(&bytes, |byte| byte == b'\\'));
            prop_assert_eq!(block.specials(), naive(&bytes, |byte| byte < 32 || b"\"\\".contains(&byte)));
            prop_assert_eq!(block.brackets(), naive(&bytes, |byte| b"Y[]_y{}\x7f".contains(&byte)));
        }

        #[test]
        fn escapes_and_insides_agree_with_a_walk(text in "[\"\\\\a]{64}", starts_escaped in any::<bool>()) {
            let block = Block::load(text.as_bytes());
            let escaped = escaped_positions(block.backslashes(), starts_escaped);
            let inside = inside_strings(block.quotes() & !escaped);
            let (mut escape, mut string) = (starts_escaped, false);
            for (at, byte) in text.bytes().enumerate() {
                let was_escaped = escape;
                escape = byte == b'\\' && !escape;
                string ^= byte == b'"' && !was_escaped;
                if byte != b'\\' {
                    prop_assert_eq!(escaped >> at & 1 == 1, was_escaped, "at {}", at);
                }
                prop_assert_eq!(inside >> at & 1 == 1, string, "at {}", at);
            }
        }
    }
}
