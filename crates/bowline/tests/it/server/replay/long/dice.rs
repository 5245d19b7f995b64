//! What the client does, by chance that can be had again.

use std::time::Duration;

/// Numbers that look random (SplitMix64).
pub(super) struct Dice(u64);

/// How a round is sent.
pub(super) enum Act {
    Once,
    /// The client hangs up after this time, if there is no answer by then.
    Leave(Duration),
    /// To both nodes.
    AtOnce,
    /// To one, and once it has answered to the other.
    Again,
}

impl Dice {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut dice = Self(seed);
        Self(dice.next() ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Others, for what goes on at the same time.
    pub(super) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let number = self.below(all.len() as u64);
        &all[usize::try_from(number).expect("a short list")]
    }

    pub(super) fn act(&mut self) -> Act {
        match self.below(10) {
            0 => Act::Leave(Duration::from_millis(self.below(40))),
            1 => Act::AtOnce,
            2 => Act::Again,
            _ => Act::Once,
        }
    }
}
