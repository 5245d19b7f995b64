//! Backoff between connection attempts.

use std::time::Duration;

use super::rng::apply_jitter;

/// The delay between connection attempts: exponential, capped, with jitter.
///
/// A pure value: it computes a delay from the attempt number and a random number. It
/// can only be built with valid bounds.
///
/// ```
/// use bowline_proto::client::Backoff;
/// use std::time::Duration;
///
/// let backoff = Backoff::default();
/// assert_eq!(backoff.delay(0, 0.5), Duration::from_secs(1));
/// assert_eq!(backoff.delay(3, 0.5), Duration::from_secs(8));
/// assert_eq!(backoff.delay(60, 0.99), Duration::from_secs(30));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    jitter: f64,
}

/// Invalid bounds for a [`Backoff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffError {
    /// The minimum is zero, so a dead server would be dialled in a loop.
    ZeroMinimum,
    /// The minimum exceeds the maximum.
    MinExceedsMax,
    /// The jitter is not between zero and one.
    InvalidJitter,
}

impl Backoff {
    /// Creates a backoff that starts at `min`, doubles up to `max`, and varies by the
    /// ratio `jitter` in either direction.
    ///
    /// # Errors
    ///
    /// Returns an error if the bounds are not valid; see [`BackoffError`].
    pub fn new(min: Duration, max: Duration, jitter: f64) -> Result<Self, BackoffError> {
        if min.is_zero() {
            return Err(BackoffError::ZeroMinimum);
        }
        if min > max {
            return Err(BackoffError::MinExceedsMax);
        }
        if !(0.0..=1.0).contains(&jitter) {
            return Err(BackoffError::InvalidJitter);
        }
        Ok(Self { min, max, jitter })
    }

    /// Returns the delay before attempt `attempt` (counted from 0 since the last
    /// success). `random` is a random number in `0.0..1.0`.
    ///
    /// The delay without jitter is what doubles, so jitter never compounds. The result
    /// is clamped to the bounds after the jitter.
    #[must_use]
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        let factor = 1_u32.checked_shl(attempt).unwrap_or(u32::MAX);
        let base = self.min.saturating_mul(factor).min(self.max);
        apply_jitter(base, self.jitter, random).clamp(self.min, self.max)
    }

    /// Returns the minimum delay.
    #[must_use]
    pub fn min(&self) -> Duration {
        self.min
    }

    /// Returns the maximum delay.
    #[must_use]
    pub fn max(&self) -> Duration {
        self.max
    }
}

impl Default for Backoff {
    /// From 1 s to 30 s, with a jitter of a fifth.
    fn default() -> Self {
        Self {
            min: Duration::from_secs(1),
            max: Duration::from_secs(30),
            jitter: 0.2,
        }
    }
}

impl std::fmt::Display for BackoffError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ZeroMinimum => "the minimum backoff must be greater than zero",
            Self::MinExceedsMax => "the minimum backoff must not exceed the maximum",
            Self::InvalidJitter => "the jitter must be between 0 and 1",
        })
    }
}

impl std::error::Error for BackoffError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows that the default settings promise, attempt by attempt.
    #[test]
    fn windows_are_as_promised() {
        let windows_ms = [
            (1_000, 1_200),
            (1_600, 2_400),
            (3_200, 4_800),
            (6_400, 9_600),
            (12_800, 19_200),
            (24_000, 30_000),
            (24_000, 30_000),
        ];
        let backoff = Backoff::default();
        for (attempt, (low, high)) in (0..).zip(windows_ms) {
            assert_eq!(
                backoff.delay(attempt, 0.0).as_millis(),
                low,
                "attempt {attempt}"
            );
            assert_eq!(
                backoff.delay(attempt, 1.0).as_millis(),
                high,
                "attempt {attempt}"
            );
        }
    }

    #[test]
    fn bounds_that_contradict_are_refused() {
        let second = Duration::from_secs(1);
        assert_eq!(
            Backoff::new(Duration::ZERO, second, 0.2),
            Err(BackoffError::ZeroMinimum)
        );
        assert_eq!(
            Backoff::new(second * 2, second, 0.2),
            Err(BackoffError::MinExceedsMax)
        );
        assert_eq!(
            Backoff::new(second, second, f64::NAN),
            Err(BackoffError::InvalidJitter)
        );
    }
}
