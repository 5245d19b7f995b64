//! Decoding with the place of the fault, and at no cost where there is none.

use std::fmt;

use serde::{Deserialize, de::DeserializeOwned};

/// Why a message does not have the shape it should, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// The path to the fault, such as `tools[3].name`; empty at the top.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl DecodeError {
    /// An error at a path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for DecodeError {}

/// Decodes a JSON text.
///
/// The path is worked out by a second reading, which only a faulty text pays
/// for.
///
/// # Errors
///
/// Where the text is not JSON, or does not have the shape of `T`.
///
/// ```
/// use bowline_proto::model::{self, ListToolsResult};
///
/// let error = model::decode::<ListToolsResult>(br#"{"tools": [{"name": 7}]}"#).unwrap_err();
/// assert_eq!(error.path, "tools[0].name");
/// ```
pub fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(|error| locate::<T>(json, &error))
}

/// Decodes the params of a message; where there are none, an empty object.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_params<T: DeserializeOwned>(params: Option<&[u8]>) -> Result<T, DecodeError> {
    decode(params.unwrap_or(b"{}"))
}

fn locate<'de, T: Deserialize<'de>>(json: &'de [u8], plain: &serde_json::Error) -> DecodeError {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) => {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            DecodeError::new(path, error.into_inner().to_string())
        }
        // The value is sound, so the fault lies behind it.
        Ok(_) => DecodeError::new("", plain.to_string()),
    }
}
