//! Times that both sides of a connection understand.

use std::{
    fmt,
    time::{Duration, UNIX_EPOCH},
};

/// A wall-clock time, in milliseconds since 1970. The driver supplies it.
///
/// ```
/// use bowline_proto::task::Timestamp;
///
/// let time = Timestamp::from_unix_millis(1_700_000_000_500);
/// assert_eq!(time.to_string(), "2023-11-14T22:13:20.500Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last time that ISO 8601 can express with a year of four digits.
    const MAX: u64 = 253_402_300_799_999;

    /// Creates a time from milliseconds since 1970. Times after the year 9999 are
    /// its end.
    #[must_use]
    pub fn from_unix_millis(millis: u64) -> Self {
        Self(millis.min(Self::MAX))
    }

    /// Reads a time in ISO 8601, as RFC 3339 restricts it. Returns `None` for other
    /// formats, for other offsets than that of UTC, and for times before 1970.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix("+00:00").unwrap_or(text);
        let time = humantime::parse_rfc3339_weak(text).ok()?;
        let millis = time.duration_since(UNIX_EPOCH).ok()?.as_millis();
        u64::try_from(millis).ok().map(Self::from_unix_millis)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub fn unix_millis(self) -> u64 {
        self.0
    }

    /// Returns the time this much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self::from_unix_millis(self.0.saturating_add(millis))
    }

    /// Returns how long it is until a later time; zero if that has passed.
    #[must_use]
    pub fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + Duration::from_millis(self.0);
        write!(f, "{}", humantime::format_rfc3339_millis(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_is_written_in_iso_8601() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_unix_millis(millis).to_string(), expected);
        }
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        let time = Timestamp::from_unix_millis(951_782_400_001);
        for text in [
            "2000-02-29T00:00:00.001Z",
            "2000-02-29T00:00:00.001+00:00",
            "2000-02-29T00:00:00.001999Z",
        ] {
            assert_eq!(Timestamp::parse(text), Some(time), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2000-02-29T00:00:00+02:00",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_never_overflow() {
        let end = Timestamp::from_unix_millis(u64::MAX);
        assert_eq!(end.after(Duration::MAX), end);
        assert_eq!(end.until(Timestamp::from_unix_millis(0)), Duration::ZERO);
    }
}
