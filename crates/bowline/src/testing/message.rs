//! Messages as the fake server sees and makes them.

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
    /// Reads a frame.
    ///
    /// # Panics
    ///
    /// Where the client sent something that is not JSON.
    pub(crate) fn parse(frame: Bytes) -> Self {
        match serde_json::from_slice(&frame) {
            Ok(json) => Self { frame, json },
            Err(error) => panic!("the client sent a frame that is not JSON: {error}: {frame:?}"),
        }
    }

    /// The frame, verbatim.
    #[must_use]
    pub fn frame(&self) -> &Bytes {
        &self.frame
    }

    /// The whole message.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The id; null where there is none.
    #[must_use]
    pub fn id(&self) -> &Value {
        &self.json["id"]
    }

    /// The method of a request or notification; empty for an answer.
    #[must_use]
    pub fn method(&self) -> &str {
        self.json["method"].as_str().unwrap_or_default()
    }

    /// The parameters; null where there are none.
    #[must_use]
    pub fn params(&self) -> &Value {
        &self.json["params"]
    }

    /// The result of an answer; null where it is none.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.json["result"]
    }

    /// The error of a refusal; null where it is none.
    #[must_use]
    pub fn error(&self) -> &Value {
        &self.json["error"]
    }

    /// Whether it wants an answer.
    #[must_use]
    pub fn is_request(&self) -> bool {
        !self.method().is_empty() && !self.id().is_null()
    }
}

/// What a server that runs by itself does with a request.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeResponse {
    /// It answers.
    Result(Value),
    /// It refuses.
    Error(ErrorObject),
    /// It does not answer at all.
    Ignore,
    /// It hangs up.
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
