//! What went wrong, in words that hold no secrets.

use std::error::Error;

/// The longest text of a server's that goes into an error.
const MAX_QUOTED: usize = 80;

/// The innermost reason of a failed exchange. The outer ones say little, and
/// repeat the URL, which may hold a key.
pub(super) fn reqwest_error_text(error: reqwest::Error) -> String {
    root_cause_text(&error.without_url())
}

/// The innermost reason of an error.
pub(super) fn root_cause_text(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

/// A text of the server's, shortened and quoted so that it cannot forge lines
/// of a log.
pub(super) fn quote_truncated(bytes: &[u8]) -> String {
    let bytes = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_QUOTED)]);
    format!("{bytes:?}")
}
