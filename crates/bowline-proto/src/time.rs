//! Time in the protocol core: a number that the driver supplies.

use std::{
    fmt,
    ops::{Add, Sub},
    time::Duration,
};

/// A moment on the driver's monotonic clock.
///
/// The origin is the driver's choice; only differences mean anything. This is not
/// [`std::time::Instant`], because the core must not be able to read a clock. Tests
/// advance time by adding to a number.
///
/// ```
/// use bowline_proto::Instant;
/// use std::time::Duration;
///
/// let start = Instant::ORIGIN;
/// let later = start + Duration::from_millis(250);
/// assert_eq!(later - start, Duration::from_millis(250));
/// assert_eq!(start - later, Duration::ZERO, "a difference never goes below zero");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    nanos: u64,
}

impl Instant {
    /// The zero point of the driver's clock.
    pub const ORIGIN: Self = Self { nanos: 0 };

    /// Returns the moment `elapsed` after [`Instant::ORIGIN`].
    ///
    /// Saturates after about 584 years.
    #[must_use]
    pub fn after_origin(elapsed: Duration) -> Self {
        Self {
            nanos: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the time elapsed since [`Instant::ORIGIN`].
    #[must_use]
    pub fn since_origin(self) -> Duration {
        Duration::from_nanos(self.nanos)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        Self {
            nanos: self.nanos.saturating_add(wait),
        }
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos.saturating_sub(earlier.nanos))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T+{:?}", self.since_origin())
    }
}
