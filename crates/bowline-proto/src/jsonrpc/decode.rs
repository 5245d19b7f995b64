//! Typed values out of the slices that the scan found.

use std::fmt;

use serde::Deserialize;

/// Decodes one JSON value, and knows where the fault is when it cannot.
///
/// The path costs a second decode, so it is only looked for when the first has
/// failed.
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
    serde_json::from_slice(json).map_err(|error| locate::<T>(json, &error))
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

#[cold]
fn locate<'de, T: Deserialize<'de>>(json: &'de [u8], error: &serde_json::Error) -> DecodeError {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(fault) if fault.path().iter().next().is_some() => DecodeError {
            path: fault.path().to_string(),
            message: fault.inner().to_string(),
        },
        // At the root, or behind a value that is fine by itself.
        _ => DecodeError {
            path: String::new(),
            message: error.to_string(),
        },
    }
}
