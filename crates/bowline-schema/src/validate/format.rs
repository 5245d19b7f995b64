//! Formats of strings, which are checked if an option says so.

/// A format that can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    /// Parses the name of a format. Others are annotations.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            _ => return None,
        })
    }

    /// Returns the name of the format, as in a schema.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// Returns what a string of this format is, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Uri => "a URI",
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a time such as 2026-07-28T09:30:00Z",
        }
    }

    /// Returns whether a string has the format. Linear in its length.
    pub(super) fn is_match(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

/// Catches typos; only sending mail can tell whether the address exists.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_forbidden =
        |c: char| c.is_whitespace() || c.is_control() || "@<>,;:()[]\\\"".contains(c);
    let valid_local =
        !local.contains(is_forbidden) && local.split('.').all(|part| !part.is_empty());
    valid_local && domain.split('.').all(is_label)
}

/// Returns whether this is a valid label of a host name.
fn is_label(label: &str) -> bool {
    let valid = |c: char| c.is_alphanumeric() || c == '-';
    !label.is_empty()
        && label.chars().all(valid)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Returns whether this is a scheme followed by what RFC 3986 allows.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let valid_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let valid_rest = rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    let valid_escapes = rest.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2).unwrap_or_default();
        digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit)
    });
    valid_scheme && valid_rest && valid_escapes && !rest.is_empty() && rest != "//"
}

/// Returns whether this is a date in the format of RFC 3339.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut number = |digits| parse_digits(parts.next()?, digits);
    match (number(4), number(2), number(2)) {
        (Some(year), Some(month), Some(day)) => (1..=days_in(year, month)).contains(&day),
        _ => false,
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_divisible = |years| year.is_multiple_of(years);
    let leap = is_divisible(4) && (!is_divisible(100) || is_divisible(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    }
}

/// Returns whether this is a date, time and offset in the format of RFC 3339.
fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some(offset_at) = rest.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, offset) = rest.split_at(offset_at);
    let valid_offset = match offset.strip_prefix(['+', '-']) {
        Some(offset) => is_time(offset, &[23, 59]),
        None => matches!(offset, "Z" | "z"),
    };
    let (clock, valid_fraction) = match time.split_once('.') {
        Some((clock, fraction)) => {
            let valid = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
            (clock, valid)
        }
        None => (time, true),
    };
    // Second 60 is a leap second.
    is_date(date) && is_time(clock, &[23, 59, 60]) && valid_fraction && valid_offset
}

/// Returns whether these are two-digit numbers separated by colons, each up to
/// its limit.
fn is_time(text: &str, limits: &[u32]) -> bool {
    let mut parts = text.split(':');
    let mut is_within = |limit: &u32| {
        let number = parts.next().and_then(|part| parse_digits(part, 2));
        number.is_some_and(|number| number <= *limit)
    };
    limits.iter().all(&mut is_within) && parts.next().is_none()
}

/// Parses exactly `count` digits.
fn parse_digits(text: &str, count: usize) -> Option<u32> {
    let valid = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, right: &[&str], wrong: &[&str]) {
        let known = Format::from_name(format).expect("a known format");
        assert_eq!(known.name(), format);
        for text in right {
            assert!(known.is_match(text), "{text:?} is {format}");
        }
        for text in wrong {
            assert!(!known.is_match(text), "{text:?} is no {format}");
        }
    }

    #[test]
    fn e_mail_addresses() {
        check(
            "email",
            &[
                "a@b",
                "ada.lovelace+tag@post.example",
                "o'brien@xn--bcher-kva.example",
                "käthe@bücher.example",
            ],
            &[
                "",
                "a",
                "@b",
                "a@",
                "a b@c",
                "a@b@c",
                ".a@b",
                "a..b@c",
                "a@b..c",
                "a@b.",
                "a@-b",
                "a@b-",
                "Ada <ada@b>",
                "a@b_c",
                "a@b\n",
            ],
        );
    }

    #[test]
    fn uris() {
        check(
            "uri",
            &[
                "https://harbour.example/berths?free=1#4",
                "urn:isbn:0451450523",
                "mailto:ada@post.example",
                "file:///",
                "http://[::1]:8080/",
                "a+b-c.d:%C3%A9",
            ],
            &[
                "",
                "harbour.example",
                "/berths",
                "https:",
                "https://",
                "1a:b",
                ":b",
                "http://a b",
                "http://é",
                "http://a/%",
                "http://a/%C",
                "http://a/%zz",
                "http://a/<b>",
                "ht tp://a",
            ],
        );
    }

    #[test]
    fn days() {
        check(
            "date",
            &["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-31"],
            &[
                "",
                "2026-7-28",
                "26-07-28",
                "2026-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-13-01",
                "2026-00-01",
                "2026-01-00",
                "2026-01-01-",
                "+026-01-01",
                "2026/01/01",
                "2026-01-01T00:00:00Z",
            ],
        );
    }

    #[test]
    fn times() {
        check(
            "date-time",
            &[
                "2026-07-28T09:30:00Z",
                "2026-07-28t09:30:00z",
                "2026-07-28T23:59:60.123456789+05:30",
                "2026-07-28T00:00:00-00:00",
            ],
            &[
                "",
                "2026-07-28",
                "2026-07-28T09:30Z",
                "2026-07-28T09:30:00",
                "2026-07-28 09:30:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T09:60:00Z",
                "2026-07-28T09:30:61Z",
                "2026-07-28T09:30:00.Z",
                "2026-07-28T09:30:00,5Z",
                "2026-07-28T09:30:00+5:30",
                "2026-07-28T09:30:00+24:00",
                "2026-07-28T09:30:00Zz",
                "2026-02-30T09:30:00Z",
            ],
        );
    }

    #[test]
    fn other_formats_are_not_known() {
        assert_eq!(Format::from_name("iban"), None);
    }
}
