//! `Retry-After`: seconds, or a date in one of the three formats of HTTP.

use std::time::Duration;

use super::header::trim_ows;

/// The longest wait that a server can impose: one day.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses a `Retry-After` value; `now` is in seconds since 1970, for dates.
///
/// A date in the past means no wait. Longer waits are capped at
/// [`MAX_RETRY_AFTER`]. An invalid value is `None`, as if the header were
/// absent.
///
/// ```
/// use bowline_proto::http::parse_retry_after;
/// use std::time::Duration;
///
/// assert_eq!(parse_retry_after(b"120", 0), Some(Duration::from_secs(120)));
/// let date = b"Sun, 06 Nov 1994 08:49:37 GMT";
/// assert_eq!(parse_retry_after(date, 784_111_770), Some(Duration::from_secs(7)));
/// ```
#[must_use]
pub fn parse_retry_after(value: &[u8], now: u64) -> Option<Duration> {
    let value = str::from_utf8(trim_ows(value)).ok()?;
    let seconds = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a long wait, not an error.
        value.parse().unwrap_or(u64::MAX)
    } else {
        http_date(value, now)?.saturating_sub(now)
    };
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Parses a date to seconds since 1970. The day of the week is redundant and
/// not checked.
fn http_date(input: &str, now: u64) -> Option<u64> {
    let mut words = input
        .split([' ', ',', '-'])
        .filter(|word| !word.is_empty())
        .skip(1);
    let mut word = || words.next();
    let first = word()?;
    let (year, month, day, time) = if let Some(month) = month(first) {
        // Sun Nov  6 08:49:37 1994
        let (day, time) = (digits(word()?, 1..=2)?, word()?);
        (digits(word()?, 4..=4)?, month, day, time)
    } else {
        // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
        let (day, month, year) = (digits(first, 2..=2)?, month(word()?)?, word()?);
        let year = match digits(year, 2..=4)? {
            short if year.len() == 2 => full_year(short, now),
            full if year.len() == 4 => full,
            _ => return None,
        };
        let time = word()?;
        (word()? == "GMT").then_some((year, month, day, time))?
    };
    let plausible = words.next().is_none() && (1..=31).contains(&day) && year >= 1970;
    if !plausible {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + time_of_day(time)?)
}

fn month(word: &str) -> Option<u64> {
    let position = MONTHS.iter().position(|month| *month == word)?;
    u64::try_from(position + 1).ok()
}

fn digits(word: &str, length: std::ops::RangeInclusive<usize>) -> Option<u64> {
    let decimal = length.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| word.parse().ok()).flatten()
}

/// Returns the year with these two digits that is at most 50 years away.
fn full_year(short: u64, now: u64) -> u64 {
    const SECONDS_PER_YEAR: u64 = 31_556_952;
    let this_year = 1970 + now.min(MAX_NOW) / SECONDS_PER_YEAR;
    match this_year / 100 * 100 + short {
        year if year > this_year + 50 => year - 100,
        year if year + 50 < this_year => year + 100,
        year => year,
    }
}

/// The year 9999; beyond it, two digits are ambiguous.
const MAX_NOW: u64 = 253_402_300_799;

fn time_of_day(input: &str) -> Option<u64> {
    let mut parts = input.split(':');
    let mut part = |limit| digits(parts.next()?, 2..=2).filter(|part| *part <= limit);
    // A leap second is a valid time.
    let (hours, minutes, seconds) = (part(23)?, part(59)?, part(60)?);
    parts
        .next()
        .is_none()
        .then_some((hours * 60 + minutes) * 60 + seconds)
}

/// Returns the days since 1970 in the Gregorian calendar, for years from 1970
/// to 9999.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Counting years from March puts the leap day last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let since_0000 = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1;
    since_0000 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEN: u64 = 784_111_777;

    #[test]
    fn the_three_forms_of_a_date_agree() {
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(http_date(date, THEN), Some(THEN), "{date}");
            assert_eq!(
                parse_retry_after(date.as_bytes(), THEN - 5),
                Some(Duration::from_secs(5))
            );
            assert_eq!(
                parse_retry_after(date.as_bytes(), THEN + 5),
                Some(Duration::ZERO)
            );
        }
    }

    #[test]
    fn the_calendar_is_right_at_its_edges() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT", 0), Some(0));
        assert_eq!(
            http_date("Tue, 29 Feb 2000 23:59:59 GMT", 0),
            Some(951_868_799)
        );
        assert_eq!(
            http_date("Sat, 01 Mar 2025 00:00:00 GMT", 0),
            Some(1_740_787_200)
        );
        assert_eq!(http_date("Fri, 31 Dec 9999 23:59:59 GMT", 0), Some(MAX_NOW));
    }

    #[test]
    fn two_digits_are_the_nearest_such_year() {
        for (this_year, short, full) in [(2026, 94, 1994), (2026, 76, 2076), (1999, 5, 2005)] {
            let now = days_since_1970(this_year, 7, 1) * 86_400;
            assert_eq!(full_year(short, now), full);
        }
    }

    #[test]
    fn long_waits_are_cut() {
        assert_eq!(
            parse_retry_after(b"99999999999999999999999999", 0),
            Some(MAX_RETRY_AFTER)
        );
        assert_eq!(
            parse_retry_after(b"Fri, 31 Dec 9999 23:59:59 GMT", 0),
            Some(MAX_RETRY_AFTER)
        );
        assert_eq!(parse_retry_after(b" 0 ", 0), Some(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_no_wait_at_all() {
        for bad in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sun, 06 Nov 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 199 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun Nov 06 08:49:37",
            "é, 06",
        ] {
            assert_eq!(parse_retry_after(bad.as_bytes(), 0), None, "{bad}");
        }
        assert_eq!(parse_retry_after(b"\xff", 0), None);
    }
}
