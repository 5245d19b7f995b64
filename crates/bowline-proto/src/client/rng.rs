//! The connection's random number generator: deterministic for a given seed.

use std::time::Duration;

/// A small, fast generator (SplitMix64) for jitter and correlation ids. Not for
/// secrets.
#[derive(Clone, Debug)]
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a uniformly distributed number in `0.0..1.0`.
    pub(super) fn next_f64(&mut self) -> f64 {
        // 53 bits fill a double's mantissa exactly.
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let numerator = (self.next_u64() >> 11) as f64;
        numerator / (1_u64 << 53) as f64
    }

    /// Returns `base` varied by up to `ratio` in either direction.
    pub(super) fn jitter(&mut self, base: Duration, ratio: f64) -> Duration {
        apply_jitter(base, ratio, self.next_f64())
    }
}

/// Returns `base × (1 + (random − 0.5) × 2 × ratio)`, clamped to the range of
/// `Duration`.
pub(super) fn apply_jitter(base: Duration, ratio: f64, random: f64) -> Duration {
    let factor = 1.0 + (random - 0.5) * 2.0 * ratio;
    let seconds = base.as_secs_f64() * factor.max(0.0);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
