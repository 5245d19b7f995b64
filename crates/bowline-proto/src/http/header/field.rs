//! Headers to send, headers received, and mismatches between header and body.

use std::{borrow::Cow, fmt};

use super::{HeaderValueError, name, value::decode_unencoded};
use crate::jsonrpc::{ErrorObject, code};

/// The headers of a received message, independent of the HTTP library.
///
/// Implemented for lists of pairs; an adapter around a library's header map
/// takes three lines. With HTTP/2, the adapter returns the request's
/// `:authority` as `host`.
///
/// ```
/// use bowline_proto::http::Headers;
///
/// let headers = [("Mcp-Method", "tools/list")];
/// assert_eq!(headers.values("mcp-method").next(), Some(&b"tools/list"[..]));
/// ```
pub trait Headers {
    /// Returns every value under `name`, in the order of arrival.
    ///
    /// `name` is always in lower case; received names match in any case.
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]>;
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for [(N, V)] {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.iter()
            .filter(move |(key, _)| key.as_ref().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>, const COUNT: usize> Headers for [(N, V); COUNT] {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.as_slice().values(name)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for Vec<(N, V)> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.as_slice().values(name)
    }
}

/// Returns the value of a header that may occur at most once.
///
/// # Errors
///
/// Returns an error if it occurs twice: a parser that takes the other one would
/// see another request.
pub fn single_value<'h, H: Headers + ?Sized>(
    headers: &'h H,
    name: &str,
) -> Result<Option<&'h [u8]>, HeaderMismatch> {
    let mut values = headers.values(name);
    let first = values.next();
    match values.next() {
        None => Ok(first),
        Some(_) => Err(HeaderMismatch::new(name, MismatchReason::Repeated)),
    }
}

/// Returns `MCP-Protocol-Version`, which may be absent.
///
/// # Errors
///
/// Returns an error if it is repeated or has an illegal byte.
pub fn protocol_version<H: Headers + ?Sized>(headers: &H) -> Result<Option<&str>, HeaderMismatch> {
    let raw = single_value(headers, name::MCP_PROTOCOL_VERSION)?;
    raw.map(decode_unencoded).transpose().map_err(|error| {
        HeaderMismatch::new(name::MCP_PROTOCOL_VERSION, MismatchReason::Malformed(error))
    })
}

/// Checks that `MCP-Protocol-Version` is present and equals the body's version.
///
/// # Errors
///
/// Returns an error if it is missing, repeated or different.
pub fn check_protocol_version<H: Headers + ?Sized>(
    headers: &H,
    body_version: &str,
) -> Result<(), HeaderMismatch> {
    check_plain(headers, name::MCP_PROTOCOL_VERSION, body_version, true)
}

/// A header to send: its name is a token and its value printable ASCII.
///
/// Only this module creates them, so no field can contain a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField<'a> {
    name: &'a str,
    value: Cow<'a, str>,
}

impl<'a> HeaderField<'a> {
    pub(super) fn new(name: &'a str, value: Cow<'a, str>) -> Self {
        debug_assert!(super::value::is_plain(value.as_bytes()));
        Self { name, value }
    }

    /// Returns the name, in lower case.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the value, encoded and ready to send.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

/// A mismatch between a header and the body.
///
/// The message names the header and never repeats a value.
///
/// ```
/// use bowline_proto::{http::header::MirroredHeaders, jsonrpc::code};
///
/// let mirrored = MirroredHeaders::from_message("tools/list", None).unwrap();
/// let mismatch = mirrored.check_request(&[("Mcp-Method", "tools/call")]).unwrap_err();
/// assert_eq!(mismatch.to_error().code, code::HEADER_MISMATCH);
/// assert_eq!(mismatch.to_string(), "header mcp-method differs from the body");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMismatch {
    /// The header's name, in lower case.
    pub header: Box<str>,
    /// What is wrong with it.
    pub reason: MismatchReason,
}

impl HeaderMismatch {
    /// The HTTP status of the refusal.
    pub const STATUS: u16 = 400;

    pub(super) fn new(header: &str, reason: MismatchReason) -> Self {
        Self {
            header: header.into(),
            reason,
        }
    }

    /// Returns the JSON-RPC error of the refusal.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::new(code::HEADER_MISMATCH, self.to_string())
    }
}

impl fmt::Display for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = &self.header;
        match self.reason {
            MismatchReason::Missing => write!(f, "header {header} is missing"),
            MismatchReason::Repeated => write!(f, "header {header} occurs more than once"),
            MismatchReason::Different => write!(f, "header {header} differs from the body"),
            MismatchReason::Malformed(error) => write!(f, "header {header}: {error}"),
            MismatchReason::Unexpected => {
                write!(f, "header {header} has no counterpart in the body")
            }
            MismatchReason::Ambiguous => {
                write!(f, "the body has more than one value for header {header}")
            }
            MismatchReason::NotRepresentable => {
                write!(
                    f,
                    "the body's value for header {header} cannot be represented in a header"
                )
            }
        }
    }
}

impl std::error::Error for HeaderMismatch {}

/// How a header and the body disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MismatchReason {
    /// The body has the value, but the header is missing.
    Missing,
    /// The header occurs more than once.
    Repeated,
    /// The values differ.
    Different,
    /// The header's value cannot be decoded.
    Malformed(HeaderValueError),
    /// The header is present, but the body has no such value.
    Unexpected,
    /// The body has the member twice, so parsers may disagree about its value.
    Ambiguous,
    /// The body's value is an object, an array, a fraction, or an integer that
    /// not every JSON parser represents exactly.
    NotRepresentable,
}

/// Compares a header whose value is never encoded.
pub(super) fn check_plain<H: Headers + ?Sized>(
    headers: &H,
    name: &str,
    expected: &str,
    required: bool,
) -> Result<(), HeaderMismatch> {
    let reason = match single_value(headers, name)?.map(decode_unencoded) {
        None if required => MismatchReason::Missing,
        Some(Ok(value)) if value != expected => MismatchReason::Different,
        Some(Err(error)) => MismatchReason::Malformed(error),
        None | Some(Ok(_)) => return Ok(()),
    };
    Err(HeaderMismatch::new(name, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_header_is_read_as_text() {
        let none: [(&str, &str); 0] = [];
        assert_eq!(protocol_version(&none), Ok(None));
        assert_eq!(
            protocol_version(&[("MCP-Protocol-Version", " v2 ")]),
            Ok(Some("v2"))
        );
        assert!(protocol_version(&[("mcp-protocol-version", "é")]).is_err());
    }

    #[test]
    fn the_version_header_must_equal_the_body() {
        let check = |headers: &[(&str, &str)]| {
            check_protocol_version(headers, "v2").map_err(|mismatch| mismatch.reason)
        };
        assert_eq!(check(&[("mcp-protocol-version", "v2")]), Ok(()));
        assert_eq!(check(&[("MCP-Protocol-Version", " v2 ")]), Ok(()));
        assert_eq!(check(&[]), Err(MismatchReason::Missing));
        assert_eq!(
            check(&[("mcp-protocol-version", "v9")]),
            Err(MismatchReason::Different)
        );
        assert_eq!(
            check(&[
                ("mcp-protocol-version", "v2"),
                ("MCP-Protocol-Version", "v2")
            ]),
            Err(MismatchReason::Repeated)
        );
        assert_eq!(
            check_protocol_version(&[("mcp-protocol-version", b"\xff")], "x").map_err(|m| m.reason),
            Err(MismatchReason::Malformed(HeaderValueError::IllegalByte))
        );
    }
}
