//! UTC time, as written into recordings and next to events.

use std::time::SystemTime;

use humantime::format_rfc3339_millis;

/// A point in time in UTC. Local time would require a time zone database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UtcTime(SystemTime);

impl UtcTime {
    pub(crate) fn now() -> Self {
        // A clock before 1970 is not set.
        Self(SystemTime::now().max(SystemTime::UNIX_EPOCH))
    }

    /// Formats the time of day, such as `08:05:09.120`.
    pub(crate) fn time_of_day(self) -> String {
        let full = self.rfc3339();
        let (_, time) = full.split_once('T').unwrap_or_default();
        time.trim_end_matches('Z').to_owned()
    }

    /// Formats the date and time as in RFC 3339.
    pub(crate) fn rfc3339(self) -> String {
        format_rfc3339_millis(self.0).to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_written_as_people_do() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_785_196_799_999, "2026-07-27T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (ms, expected) in cases {
            let time = UtcTime(SystemTime::UNIX_EPOCH + Duration::from_millis(ms));
            assert_eq!(time.rfc3339(), expected);
            assert_eq!(time.time_of_day(), expected[11..23]);
        }
    }
}
