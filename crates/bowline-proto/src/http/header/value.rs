//! Encoding of strings as header values: verbatim if that is safe, else as
//! base64.

use std::{borrow::Cow, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Encodes `input` as the value of an `Mcp-Name` or `Mcp-Param-*` header.
///
/// Printable ASCII without white space at its ends is used verbatim; anything
/// else, and input that looks like the encoded form, becomes `=?base64?…?=`.
/// The result never contains a control character, whatever `input` contains, so
/// a value cannot break out of its header.
///
/// ```
/// use bowline_proto::http::header::{decode_value, encode_value};
///
/// assert_eq!(encode_value("get weather"), "get weather");
/// assert_eq!(encode_value("Zürich"), "=?base64?WsO8cmljaA==?=");
/// assert_eq!(decode_value(b"=?base64?WsO8cmljaA==?=").unwrap(), "Zürich");
/// ```
#[must_use]
pub fn encode_value(input: &str) -> Cow<'_, str> {
    if is_plain(input.as_bytes()) && encoded_part(input.as_bytes()).is_none() {
        return Cow::Borrowed(input);
    }
    let mut value =
        String::with_capacity(PREFIX.len() + input.len().div_ceil(3) * 4 + SUFFIX.len());
    value.push_str(PREFIX);
    STANDARD.encode_string(input, &mut value);
    value.push_str(SUFFIX);
    Cow::Owned(value)
}

/// Decodes the value of an `Mcp-Name` or `Mcp-Param-*` header.
///
/// White space around the value belongs to HTTP and is dropped. A marker that
/// is incomplete or in another case is plain text.
///
/// # Errors
///
/// Returns an error if the base64 is not in the standard, padded, canonical
/// form, if the decoded bytes are not UTF-8, or if a plain value has bytes
/// outside printable ASCII. (Tabs inside a plain value are accepted, as in the
/// specification; we never send them.)
pub fn decode_value(raw: &[u8]) -> Result<Cow<'_, str>, HeaderValueError> {
    let raw = trim_ows(raw);
    if let Some(encoded) = encoded_part(raw) {
        let bytes = STANDARD
            .decode(encoded)
            .map_err(|_| HeaderValueError::BadBase64)?;
        return String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|_| HeaderValueError::NotUtf8);
    }
    decode_unencoded(raw).map(Cow::Borrowed)
}

/// Why a header value cannot be decoded or encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderValueError {
    /// A byte that is not allowed in header values.
    IllegalByte,
    /// The part between the markers is not padded standard base64.
    BadBase64,
    /// The base64 decodes to bytes that are not UTF-8.
    NotUtf8,
}

impl fmt::Display for HeaderValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllegalByte => "the value has a byte that is not allowed in headers",
            Self::BadBase64 => "the value is not padded standard base64",
            Self::NotUtf8 => "the encoded value is not UTF-8",
        })
    }
}

impl std::error::Error for HeaderValueError {}

/// Decodes a value that is never encoded, such as a method or a version.
pub(super) fn decode_unencoded(raw: &[u8]) -> Result<&str, HeaderValueError> {
    let raw = trim_ows(raw);
    if raw.iter().all(|&byte| is_printable(byte) || byte == b'\t') {
        str::from_utf8(raw).map_err(|_| HeaderValueError::IllegalByte)
    } else {
        Err(HeaderValueError::IllegalByte)
    }
}

/// Returns whether the bytes can be sent verbatim and arrive unchanged.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| is_printable(byte))
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
}

/// Trims the optional white space that HTTP allows around a value.
pub(in crate::http) fn trim_ows(mut raw: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = raw {
        raw = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = raw {
        raw = rest;
    }
    raw
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7e)
}

/// Returns the part between the markers. In `=?base64?=` the markers overlap,
/// so it is plain text.
fn encoded_part(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(PREFIX.as_bytes())?
        .strip_suffix(SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: &str) {
        assert_eq!(encode_value(text), value);
        assert_eq!(decode_value(value.as_bytes()).as_deref(), Ok(text));
    }

    #[test]
    fn printable_text_stays_as_it_is() {
        check("", "");
        check("us-west-1", "us-west-1");
        check("two  inner spaces", "two  inner spaces");
        check(
            "file:///path/to/file%20name.txt",
            "file:///path/to/file%20name.txt",
        );
        check("~!@#$%^&*(){}|\"", "~!@#$%^&*(){}|\"");
    }

    #[test]
    fn everything_else_is_encoded() {
        check(" lead", "=?base64?IGxlYWQ=?=");
        check("trail ", "=?base64?dHJhaWwg?=");
        check(" ", "=?base64?IA==?=");
        check("a\tb", "=?base64?YQli?=");
        check("a\r\nSet-Cookie: x", "=?base64?YQ0KU2V0LUNvb2tpZTogeA==?=");
        check("nul\0", "=?base64?bnVsAA==?=");
        check("del\u{7f}", "=?base64?ZGVsfw==?=");
        check("日本", "=?base64?5pel5pys?=");
    }

    #[test]
    fn text_that_looks_encoded_is_encoded_again() {
        check(
            "=?base64?SGVsbG8=?=",
            "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?=",
        );
        check("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?=");
    }

    #[test]
    fn incomplete_or_upper_case_sentinels_are_plain_text() {
        check("SGVsbG8=", "SGVsbG8=");
        check("=?base64?SGVsbG8=", "=?base64?SGVsbG8=");
        check("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=");
        check("=?base64?=", "=?base64?=");
        check("x=?base64?SGVsbG8=?=", "x=?base64?SGVsbG8=?=");
    }

    #[test]
    fn bad_encodings_are_refused() {
        for bad in [
            "SGVsbG8",
            "SGVs!!!bG8=",
            "SGVsbG8==",
            "SGVsbG9=",
            "SGVs bG8=",
            "_-8=",
        ] {
            let value = format!("{PREFIX}{bad}{SUFFIX}");
            assert_eq!(
                decode_value(value.as_bytes()),
                Err(HeaderValueError::BadBase64),
                "{bad}"
            );
        }
        assert_eq!(
            decode_value(b"=?base64?//8=?="),
            Err(HeaderValueError::NotUtf8)
        );
    }

    #[test]
    fn surrounding_white_space_is_dropped() {
        assert_eq!(decode_value(b" \t Hello \t").as_deref(), Ok("Hello"));
        assert_eq!(
            decode_value(b" =?base64?SGVsbG8=?= ").as_deref(),
            Ok("Hello")
        );
        assert_eq!(decode_value(b"  ").as_deref(), Ok(""));
    }

    #[test]
    fn raw_bytes_outside_ascii_are_refused() {
        for bad in [
            &b"a\rb"[..],
            b"a\nb",
            b"a\0b",
            b"\x7f",
            "é".as_bytes(),
            b"\xff",
        ] {
            assert_eq!(
                decode_value(bad),
                Err(HeaderValueError::IllegalByte),
                "{bad:?}"
            );
        }
        assert_eq!(
            decode_value(b"a\tb").as_deref(),
            Ok("a\tb"),
            "an inner tab is tolerated"
        );
    }
}
