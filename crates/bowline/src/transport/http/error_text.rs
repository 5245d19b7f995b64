//! Error messages without secrets.

use std::error::Error;

/// Maximum length of server-supplied text in an error.
const MAX_QUOTED: usize = 80;

/// Returns the root cause of a failed exchange. The outer errors add little and
/// repeat the URL, which may hold a key.
pub(super) fn reqwest_error_text(error: reqwest::Error) -> String {
    root_cause_text(&error.without_url())
}

/// Returns the message of the innermost error.
pub(super) fn root_cause_text(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

/// Truncates and quotes text from the server, so it cannot forge log lines.
pub(super) fn quote_truncated(bytes: &[u8]) -> String {
    let bytes = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_QUOTED)]);
    format!("{bytes:?}")
}
