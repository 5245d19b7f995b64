//! Parsed messages of a recording or a client.

use bowline::{
    model::{meta::key, method},
    proto::jsonrpc::{Envelope, RequestId, scan},
};
use serde_json::{Value, value::RawValue};

/// A message.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Request(Request),
    Notification {
        method: String,
        frame: Box<RawValue>,
    },
    Response {
        id: RequestId,
        body: ResponseBody,
    },
}

/// A request, with its parameters verbatim and parsed.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: RequestId,
    pub(super) method: String,
    /// Verbatim; empty if absent.
    pub(super) raw_params: String,
    pub(super) params: Value,
}

/// The response to a request, verbatim.
#[derive(Clone, Debug)]
pub(super) enum ResponseBody {
    Result(String),
    Error(String),
}

impl Message {
    /// Parses the messages of a frame: one, or those of a batch. Invalid ones
    /// are skipped.
    pub(super) fn parse_all(frame: &str) -> Vec<Self> {
        if !frame.trim_start().starts_with('[') {
            return Self::parse(frame).into_iter().collect();
        }
        let parts: Vec<&RawValue> = serde_json::from_str(frame).unwrap_or_default();
        parts
            .into_iter()
            .filter_map(|part| Self::parse(part.get()))
            .collect()
    }

    fn parse(frame: &str) -> Option<Self> {
        let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
        match scan(frame.as_bytes()).ok()? {
            Envelope::Request { id, method, params } => {
                let raw = params.map(text).unwrap_or_default();
                let params = serde_json::from_str(&raw).unwrap_or_default();
                Some(Self::Request(Request {
                    id,
                    method: method.into_owned(),
                    raw_params: raw,
                    params,
                }))
            }
            Envelope::Notification { method, .. } => Some(Self::Notification {
                method: method.into_owned(),
                frame: RawValue::from_string(frame.to_owned()).ok()?,
            }),
            Envelope::Response { id, result, .. } => Some(Self::Response {
                id,
                body: ResponseBody::Result(text(result)),
            }),
            Envelope::Error { id, error } => Some(Self::Response {
                id: id?,
                body: ResponseBody::Error(text(error)),
            }),
        }
    }
}

impl Request {
    /// Returns what identifies it among requests of its method, without values
    /// that differ per attempt.
    pub(super) fn matching_key(&self) -> Value {
        let opens = matches!(self.method.as_str(), method::INITIALIZE | method::DISCOVER);
        match &self.params {
            // The client's identity and capabilities differ from client to
            // client.
            _ if opens => Value::Null,
            Value::Object(members) => {
                let is_per_attempt = |key: &str| matches!(key, "_meta" | "requestState");
                let rest = members.iter().filter(|(key, _)| !is_per_attempt(key));
                let rest: serde_json::Map<_, _> = rest
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                if rest.is_empty() {
                    Value::Null
                } else {
                    Value::Object(rest)
                }
            }
            other => other.clone(),
        }
    }

    /// Returns the progress token.
    pub(super) fn progress_token(&self) -> Option<&Value> {
        self.params.get("_meta")?.get(key::PROGRESS_TOKEN)
    }

    /// Returns a short label: `tools/call echo`.
    pub(super) fn label(&self) -> String {
        let named = ["name", "uri"].iter().find_map(|key| self.params.get(key));
        match named.and_then(Value::as_str) {
            Some(name) => format!("{} {name}", self.method),
            None => self.method.clone(),
        }
    }
}

impl ResponseBody {
    /// Returns the response frame for a request of this id.
    pub(super) fn frame(&self, id: &RequestId) -> String {
        let id = id_text(id);
        let (member, value) = match self {
            Self::Result(value) => ("result", value),
            Self::Error(value) => ("error", value),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{value}}}"#)
    }

    /// Returns the parsed value.
    pub(super) fn value(&self) -> Value {
        let (Self::Result(value) | Self::Error(value)) = self;
        serde_json::from_str(value).unwrap_or_default()
    }
}

/// Formats an id as on the wire.
pub(super) fn id_text(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_else(|_| "null".to_owned())
}
