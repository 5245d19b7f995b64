//! Typed values out of the slices that the scan found.

use std::{fmt, str::Utf8Error};

use serde::Deserialize;

use super::error_path;

/// Decodes one JSON value, and knows where the fault is when it cannot.
///
/// The path is looked for only when the decode has failed.
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
/// Where the text is not one JSON value, or not of this type.
pub fn decode<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, DecodeError> {
    // Checked as a whole: string by string, as the decoder would do it, costs
    // several times as much.
    let text = std::str::from_utf8(json).map_err(|error| not_utf8(json, error))?;
    serde_json::from_str(text).map_err(|error| locate(json, &error))
}

/// Decodes the params of a message; where there are none, an empty object.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_params<'de, T: Deserialize<'de>>(
    params: Option<&'de [u8]>,
) -> Result<T, DecodeError> {
    decode(params.unwrap_or(b"{}"))
}

/// Where JSON does not fit its type, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The way to the fault, as in `tools[3].name`; empty where it is the value
    /// itself.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl DecodeError {
    /// A fault at a path.
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

/// What an error says, without where. For values that were set aside: a place
/// in their text is none in the message.
pub(crate) fn message_without_position(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if text.ends_with(&position) {
        text.truncate(text.len() - position.len());
    }
    text
}

/// Not generic, so that no type is decoded by two sets of functions.
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
