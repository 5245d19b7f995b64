//! Random decisions that a seed repeats.

use std::time::Duration;

/// A generator of numbers (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns another generator, whose numbers depend on this one's seed and a number.
    pub(crate) fn fork(&self, number: u64) -> Self {
        let mut forked = Self(self.0 ^ number.wrapping_mul(0xA24B_AED4_963E_E407));
        Self(forked.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below the limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns `true` in this many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.below(items.len() as u64);
        &items[usize::try_from(index).unwrap_or_default()]
    }

    pub(crate) fn duration(&mut self, from: Duration, to: Duration) -> Duration {
        let range = to.saturating_sub(from);
        let micros = u64::try_from(range.as_micros()).unwrap_or(u64::MAX);
        from + Duration::from_micros(self.below(micros))
    }
}
