//! Messages as the fake server receives and sends them.

use bytes::Bytes;
use serde_json::Value;

use crate::proto::jsonrpc::ErrorObject;

/// A message that the client sent.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedMessage {
    frame: Bytes,
    json: Value,
}

impl ReceivedMessage {
    /// Parses a frame.
    ///
    /// # Panics
    ///
    /// Panics if the client sent invalid JSON.
    pub(crate) fn parse(frame: Bytes) -> Self {
        match serde_json::from_slice(&frame) {
            Ok(json) => Self { frame, json },
            Err(error) => panic!("the client sent a frame that is not JSON: {error}: {frame:?}"),
        }
    }

    /// Returns the frame, verbatim.
    #[must_use]
    pub fn frame(&self) -> &Bytes {
        &self.frame
    }

    /// Returns the whole message.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Returns the id; null if there is none.
    #[must_use]
    pub fn id(&self) -> &Value {
        &self.json["id"]
    }

    /// Returns the method of a request or notification; empty for a response.
    #[must_use]
    pub fn method(&self) -> &str {
        self.json["method"].as_str().unwrap_or_default()
    }

    /// Returns the parameters; null if there are none.
    #[must_use]
    pub fn params(&self) -> &Value {
        &self.json["params"]
    }

    /// Returns the result of a response; null if there is none.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.json["result"]
    }

    /// Returns the error of a response; null if there is none.
    #[must_use]
    pub fn error(&self) -> &Value {
        &self.json["error"]
    }

    /// Returns whether it is a request.
    #[must_use]
    pub fn is_request(&self) -> bool {
        !self.method().is_empty() && !self.id().is_null()
    }
}

/// The response of a server that runs by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeResponse {
    /// Responds with a result.
    Result(Value),
    /// Responds with an error.
    Error(ErrorObject),
    /// Does not respond.
    Ignore,
    /// Closes the link.
    Close,
}

impl From<Value> for FakeResponse {
    fn from(result: Value) -> Self {
        Self::Result(result)
    }
}

impl From<ErrorObject> for FakeResponse {
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}
