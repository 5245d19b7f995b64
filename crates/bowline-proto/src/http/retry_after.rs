//! `Retry-After`: seconds, or a date in one of the three formats of HTTP.

use std::time::{Duration, UNIX_EPOCH};

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
        http_date(value)?.saturating_sub(now)
    };
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// Parses a date to seconds since 1970. Years of two digits are those from 1970 to
/// 2069.
fn http_date(value: &str) -> Option<u64> {
    let date = httpdate::parse_http_date(value).ok()?;
    let since_1970 = date.duration_since(UNIX_EPOCH).ok()?;
    Some(since_1970.as_secs())
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
            assert_eq!(http_date(date), Some(THEN), "{date}");
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
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(
            http_date("Tue, 29 Feb 2000 23:59:59 GMT"),
            Some(951_868_799)
        );
        assert_eq!(
            http_date("Sat, 01 Mar 2025 00:00:00 GMT"),
            Some(1_740_787_200)
        );
        assert_eq!(
            http_date("Fri, 31 Dec 9999 23:59:59 GMT"),
            Some(253_402_300_799)
        );
    }

    #[test]
    fn two_digits_are_a_year_of_this_time() {
        for (date, seconds) in [
            ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
            ("Friday, 05-Jun-26 00:00:00 GMT", 1_780_617_600),
            ("Sunday, 06-Jan-69 00:00:00 GMT", 3_124_656_000),
        ] {
            assert_eq!(http_date(date), Some(seconds), "{date}");
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
            "Sat, 06 Nov 1994 08:49:37 GMT",
            "Wed, 30 Feb 2000 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun Nov 06 08:49:37",
            "é, 06",
        ] {
            assert_eq!(parse_retry_after(bad.as_bytes(), 0), None, "{bad}");
        }
        assert_eq!(parse_retry_after(b"\xff", 0), None);
    }
}
