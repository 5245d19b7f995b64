//! `Content-Type` and `Accept`, for the protocol's two media types.

use super::{
    Headers,
    header::{
        name::{self, APPLICATION_JSON, TEXT_EVENT_STREAM},
        trim_ows,
    },
};

/// Returns whether a `Content-Type` is JSON in UTF-8. If not, respond with 415.
///
/// ```
/// use bowline_proto::http::is_json;
///
/// assert!(is_json(b"Application/JSON; charset=UTF-8"));
/// assert!(!is_json(b"text/plain"));
/// ```
#[must_use]
pub fn is_json(content_type: &[u8]) -> bool {
    let mut parts = split_unquoted(content_type, b';');
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case(APPLICATION_JSON.as_bytes())
        && parts.filter_map(parameter).all(|(key, value)| {
            !key.eq_ignore_ascii_case(b"charset")
                || value.eq_ignore_ascii_case(b"utf-8")
                || value.eq_ignore_ascii_case(b"utf8")
        })
}

/// Returns whether a `Content-Type` is an event stream.
#[must_use]
pub fn is_event_stream(content_type: &[u8]) -> bool {
    let essence = split_unquoted(content_type, b';')
        .next()
        .unwrap_or_default();
    essence.eq_ignore_ascii_case(TEXT_EVENT_STREAM.as_bytes())
}

/// The media types a client accepts.
///
/// A POST needs both, a GET needs the event stream; otherwise respond with 406.
/// A client that sends no `Accept` header has not declared that it accepts
/// event streams, and is treated as such.
///
/// ```
/// use bowline_proto::http::Accept;
///
/// let accept = Accept::from_headers(&[("Accept", "text/event-stream, application/json;q=0.5")]);
/// assert!(accept.accepts_both());
/// assert!(Accept::from_headers(&[("Accept", "*/*")]).accepts_both());
/// let accept = Accept::from_headers(&[("Accept", "*/*, text/event-stream;q=0")]);
/// assert!(!accept.accepts_both());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accept {
    /// Whether the client accepts `application/json`.
    pub json: bool,
    /// Whether the client accepts `text/event-stream`.
    pub event_stream: bool,
}

impl Accept {
    /// Reads every `Accept` header of a request.
    #[must_use]
    pub fn from_headers<H: Headers + ?Sized>(headers: &H) -> Self {
        let (mut json, mut event_stream) = (BestMatch::default(), BestMatch::default());
        for value in headers.values(name::ACCEPT) {
            if value == COMMON_ACCEPT {
                json.add(EXACT, true);
                event_stream.add(EXACT, true);
                continue;
            }
            for range in split_unquoted(value, b',') {
                let range = MediaRange::parse(range);
                json.consider(&range, APPLICATION_JSON);
                event_stream.consider(&range, TEXT_EVENT_STREAM);
            }
        }
        Self {
            json: json.accepted,
            event_stream: event_stream.accepted,
        }
    }

    /// Returns whether the client accepts both, as a POST needs.
    #[must_use]
    pub fn accepts_both(self) -> bool {
        self.json && self.event_stream
    }
}

/// The exact value that almost all clients send, which need not be parsed each
/// time.
const COMMON_ACCEPT: &[u8] = b"application/json, text/event-stream";

/// The specificity of a range that names the media type itself.
const EXACT: u8 = 3;

/// A media range that a client accepts.
struct MediaRange<'a> {
    essence: &'a [u8],
    is_excluded: bool,
}

impl<'a> MediaRange<'a> {
    fn parse(range: &'a [u8]) -> Self {
        let mut parts = split_unquoted(range, b';');
        let essence = parts.next().unwrap_or_default();
        let is_excluded = parts
            .filter_map(parameter)
            .any(|(key, value)| key.eq_ignore_ascii_case(b"q") && is_zero(value));
        Self {
            essence,
            is_excluded,
        }
    }
}

/// The most specific range seen so far; `text/html;q=0` beats `*/*`.
#[derive(Default)]
struct BestMatch {
    specificity: u8,
    accepted: bool,
}

impl BestMatch {
    fn consider(&mut self, range: &MediaRange<'_>, media_type: &str) {
        let specificity = match range.essence {
            essence if essence.eq_ignore_ascii_case(media_type.as_bytes()) => EXACT,
            b"*/*" => 1,
            [prefix @ .., b'*'] if is_type_prefix(prefix, media_type.as_bytes()) => 2,
            _ => return,
        };
        self.add(specificity, !range.is_excluded);
    }

    fn add(&mut self, specificity: u8, accepted: bool) {
        if specificity > self.specificity {
            self.specificity = specificity;
            self.accepted = accepted;
        } else if specificity == self.specificity {
            self.accepted |= accepted;
        }
    }
}

/// Returns whether the prefix is the media type up to and including its slash.
fn is_type_prefix(prefix: &[u8], media_type: &[u8]) -> bool {
    let start = media_type.get(..prefix.len());
    prefix.ends_with(b"/") && start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// `0`, `0.`, `0.0` … `0.000`
fn is_zero(quality: &[u8]) -> bool {
    match quality {
        b"0" => true,
        [b'0', b'.', digits @ ..] => digits.iter().all(|&digit| digit == b'0'),
        _ => false,
    }
}

fn parameter(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memchr(b'=', input)?;
    let value = trim_ows(&input[equals + 1..]);
    let value = value
        .strip_prefix(b"\"")
        .and_then(|value| value.strip_suffix(b"\""))
        .unwrap_or(value);
    Some((trim_ows(&input[..equals]), value))
}

/// Splits a list at separators outside of quoted strings.
fn split_unquoted(mut list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let end = find_unquoted(list, separator);
        let part = &list[..end.unwrap_or(list.len())];
        match end {
            Some(end) => list = &list[end + 1..],
            None => done = true,
        }
        Some(trim_ows(part))
    })
}

fn find_unquoted(list: &[u8], separator: u8) -> Option<usize> {
    // Quotes are rare.
    let first = memchr::memchr2(separator, b'"', list)?;
    if list[first] == separator {
        return Some(first);
    }
    let (mut quoted, mut escaped) = (false, false);
    list.iter().position(|&byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => return byte == separator && !quoted,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(value: &str) -> (bool, bool) {
        let accept = Accept::from_headers(&[("accept", value)]);
        (accept.json, accept.event_stream)
    }

    #[test]
    fn content_types_are_read_without_regard_to_case_or_parameters() {
        for good in [
            "application/json",
            " Application/Json ",
            "application/json;charset=\"utf-8\"",
            "application/json; a=b;",
        ] {
            assert!(is_json(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "application/jsonx",
            "application/json-rpc",
            "text/json",
            "application/json; charset=latin1",
            "*/*",
        ] {
            assert!(!is_json(bad.as_bytes()), "{bad}");
        }
        assert!(is_event_stream(b"text/event-stream;charset=utf-8"));
        assert!(!is_event_stream(b"text/event-streams"));
    }

    #[test]
    fn both_types_in_either_order_and_over_several_headers() {
        assert_eq!(accept("application/json, text/event-stream"), (true, true));
        assert_eq!(accept("text/event-stream,APPLICATION/JSON"), (true, true));
        assert_eq!(accept("application/json"), (true, false));
        assert_eq!(accept("text/event-stream"), (false, true));
        assert_eq!(accept("text/html"), (false, false));
        let split = [
            ("Accept", "application/json"),
            ("accept", "text/event-stream"),
        ];
        assert!(Accept::from_headers(&split).accepts_both());
        let none: [(&str, &str); 0] = [];
        assert_eq!(Accept::from_headers(&none), Accept::default());
    }

    #[test]
    fn the_usual_spelling_counts_as_any_other() {
        let usual = "application/json, text/event-stream";
        for other in ["*/*;q=0", "application/*;q=0", "text/event-stream;q=0"] {
            for headers in [[usual, other], [other, usual]] {
                let apart = headers.map(|value| ("accept", value));
                let together = headers.join(",");
                assert_eq!(
                    Accept::from_headers(&apart),
                    Accept::from_headers(&[("accept", &together)])
                );
            }
        }
    }

    #[test]
    fn wildcards_and_refusals() {
        assert_eq!(accept("*/*"), (true, true));
        assert_eq!(accept("application/*"), (true, false));
        assert_eq!(accept("text/*;q=0.1"), (false, true));
        assert_eq!(accept("*/*;q=0"), (false, false));
        assert_eq!(accept("*/*, application/json;q=0"), (false, true));
        assert_eq!(accept("application/json;q=0, */*"), (false, true));
        assert_eq!(
            accept("text/*;q=0.000, text/event-stream, application/json;Q=0.001"),
            (true, true)
        );
    }

    #[test]
    fn quoted_strings_hide_separators() {
        assert_eq!(
            accept(r#"application/json;x="a,\",b;q=0", text/event-stream"#),
            (true, true)
        );
        assert_eq!(
            accept(r#"application/json;x="unclosed, text/event-stream"#),
            (true, false)
        );
        assert_eq!(accept(",, ;, application/json,"), (true, false));
    }
}
