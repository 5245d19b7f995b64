//! UTC time, as written into recordings and next to events.

use std::time::{SystemTime, UNIX_EPOCH};

/// A point in time in UTC. Local time would require a time zone database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UtcTime {
    /// Milliseconds since the start of 1970.
    ms: u64,
}

impl UtcTime {
    pub(crate) fn now() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock before 1970 is not set.
        let ms = since_epoch.map_or(0, |since_epoch| since_epoch.as_millis());
        Self {
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
        }
    }

    /// Formats the time of day, such as `08:05:09.120`.
    pub(crate) fn time_of_day(self) -> String {
        let (seconds, ms) = (self.ms / 1000, self.ms % 1000);
        let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}.{ms:03}", seconds % 60)
    }

    /// Formats the date and time as in RFC 3339.
    pub(crate) fn rfc3339(self) -> String {
        let (year, month, day) = date(self.ms / 86_400_000);
        format!("{year:04}-{month:02}-{day:02}T{}Z", self.time_of_day())
    }
}

/// Returns the date of a day counted from the start of 1970.
fn date(days: u64) -> (u64, u64, u64) {
    // Years are counted from 1 March, so the leap day is the last of its year,
    // and in cycles of 400 years, which all have the same number of days.
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let year =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = cycle * 400 + year + u64::from(month < 3);
    (year, month, day)
}

#[cfg(test)]
mod tests {
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
            assert_eq!(UtcTime { ms }.rfc3339(), expected);
        }
    }
}
