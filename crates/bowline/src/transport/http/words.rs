//! What went wrong, in words that hold no secrets.

use std::error::Error as _;

/// The longest text of a server's that goes into an error.
const LONGEST: usize = 80;

/// The innermost reason of a failed exchange. The outer ones say little, and
/// repeat the URL, which may hold a key.
pub(super) fn words_of(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        words = inner.to_string();
        source = inner.source();
    }
    words
}

/// A text of the server's, shortened and quoted so that it cannot forge lines
/// of a log.
pub(super) fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    format!("{text:?}")
}
