//! Decoding of typed values from the slices that the scan found.

use std::{fmt, str::Utf8Error};

use serde::Deserialize;

use super::error_path;

/// Decodes one JSON value. On failure, the error contains the path of the
/// fault.
///
/// The path is computed only after a failure.
///
/// ```
/// use std::collections::BTreeMap;
/// use bowline_proto::jsonrpc::decode;
///
/// let fault = decode::<BTreeMap<String, Vec<u8>>>(br#"{"a":[1,2],"b":[3,400]}"#).unwrap_err();
/// assert_eq!(fault.path, "b[1]");
/// ```
///
/// # Errors
///
/// Returns an error if the input is not one JSON value, or not of this type.
pub fn decode<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, DecodeError> {
    // Validated as a whole: string by string, as the decoder would do it, costs
    // several times as much.
    let text = std::str::from_utf8(json).map_err(|error| not_utf8(json, error))?;
    serde_json::from_str(text).map_err(|error| locate(json, &error))
}

/// Decodes the params of a message; missing params are an empty object.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_params<'de, T: Deserialize<'de>>(
    params: Option<&'de [u8]>,
) -> Result<T, DecodeError> {
    decode(params.unwrap_or(b"{}"))
}

/// The path and the reason of a decode failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The path to the fault, as in `tools[3].name`; empty if it is the value
    /// itself.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl DecodeError {
    /// Creates an error at a path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

/// Returns an error's message without its position. For values decoded from
/// their own slice, whose positions are not positions in the message.
pub(crate) fn message_without_position(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if text.ends_with(&position) {
        text.truncate(text.len() - position.len());
    }
    text
}

/// Not generic, to avoid compiling the decoder twice for each type.
#[cold]
fn locate(json: &[u8], error: &serde_json::Error) -> DecodeError {
    DecodeError {
        path: error_path::path(json, error_path::offset(json, error.line(), error.column())),
        message: error.to_string(),
    }
}

#[cold]
fn not_utf8(json: &[u8], error: Utf8Error) -> DecodeError {
    DecodeError {
        path: error_path::path(json, error.valid_up_to() + 1),
        message: error.to_string(),
    }
}
