//! What went wrong, in words that hold no secrets.

use std::error::Error;

/// The longest text of a server's that goes into an error.
const LONGEST: usize = 80;

/// The innermost reason of a failed exchange. The outer ones say little, and
/// repeat the URL, which may hold a key.
pub(super) fn words_of(error: reqwest::Error) -> String {
    innermost(&error.without_url())
}

/// The innermost reason of an error.
pub(super) fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

/// A text of the server's, shortened and quoted so that it cannot forge lines
/// of a log.
pub(super) fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    format!("{text:?}")
}
