//! Input rounds: results that ask for input, and requests that carry the
//! answers.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{
    Adapt, CreateMessageParams, ElicitParams, Extra, ListRootsParams, Members, Meta, ResultType,
    WireFeatures, message::result, method, object::object,
};
use crate::jsonrpc::RawJson;

object! {
    /// A result that asks for input that the final result needs.
    ///
    /// The client gathers the input and sends the request again, with the
    /// answers and the state.
    pub struct InputRequiredResult adjusted by InputRequiredResult::adjust {
        /// The type of the result: [`ResultType::InputRequired`].
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The questions, by key.
        input_requests: Option<InputRequests> = optional "inputRequests",
        /// State that the next request must return unchanged.
        request_state: Option<String> = optional "requestState",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(InputRequiredResult);

impl InputRequiredResult {
    fn adjust(&mut self, features: &WireFeatures) {
        if features.result_type {
            self.result_type = Some(ResultType::InputRequired);
        }
    }
}

/// Questions, by key.
pub type InputRequests = Members<InputRequest>;

/// Answers, under the keys of the questions. Each is the bare result of its
/// question's method, so its type is known only together with the question.
pub type InputResponses = Members<RawJson>;

/// A question: a request without its envelope.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The kind of question.
    pub kind: InputKind,
    /// Unknown members, verbatim.
    pub extra: Extra,
}

/// A question to the client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// A question to the user.
    Elicit(Box<ElicitParams>),
    /// A question to the model.
    CreateMessage(Box<CreateMessageParams>),
    /// A request for the roots; the params may be missing.
    ListRoots(Option<ListRootsParams>),
    /// An unknown question.
    Unknown {
        /// The method.
        method: Box<str>,
        /// Its params, verbatim.
        params: Option<RawJson>,
    },
}

impl InputRequest {
    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        match &self.kind {
            InputKind::Elicit(_) => method::ELICITATION_CREATE,
            InputKind::CreateMessage(_) => method::SAMPLING_CREATE_MESSAGE,
            InputKind::ListRoots(_) => method::ROOTS_LIST,
            InputKind::Unknown { method, .. } => method,
        }
    }
}

impl From<InputKind> for InputRequest {
    fn from(kind: InputKind) -> Self {
        Self {
            kind,
            extra: Extra::new(),
        }
    }
}

impl From<ElicitParams> for InputRequest {
    fn from(params: ElicitParams) -> Self {
        InputKind::Elicit(Box::new(params)).into()
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> Self {
        InputKind::CreateMessage(Box::new(params)).into()
    }
}

impl From<ListRootsParams> for InputRequest {
    fn from(params: ListRootsParams) -> Self {
        InputKind::ListRoots(Some(params)).into()
    }
}

impl Adapt for InputRequest {
    fn adapt(&mut self, features: &WireFeatures) {
        match &mut self.kind {
            InputKind::Elicit(params) => params.adapt(features),
            InputKind::CreateMessage(params) => params.adapt(features),
            InputKind::ListRoots(params) => params.adapt(features),
            InputKind::Unknown { .. } => {}
        }
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", self.method())?;
        match &self.kind {
            InputKind::Elicit(params) => map.serialize_entry("params", params)?,
            InputKind::CreateMessage(params) => map.serialize_entry("params", params)?,
            InputKind::ListRoots(Some(params)) => map.serialize_entry("params", params)?,
            InputKind::Unknown {
                params: Some(params),
                ..
            } => map.serialize_entry("params", params)?,
            InputKind::ListRoots(None) | InputKind::Unknown { params: None, .. } => {}
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InputRequestVisitor)
    }
}

struct InputRequestVisitor;

impl<'de> Visitor<'de> for InputRequestVisitor {
    type Value = InputRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request without its envelope")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InputRequest, A::Error> {
        let mut method: Option<String> = None;
        let mut buffered = None;
        let mut kind = None;
        let mut extra = Extra::new();
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), &method) {
                ("method", _) => method = Some(map.next_value()?),
                // In the usual order, the params are decoded in place.
                ("params", Some(method)) => kind = Some(read_params(method, &mut map)?),
                ("params", None) => buffered = Some(map.next_value()?),
                _ => extra.push(key.into(), map.next_value()?),
            }
        }
        let method = method.ok_or_else(|| de::Error::missing_field("method"))?;
        let kind = match kind {
            Some(kind) => kind,
            None => from_buffered_params(&method, buffered)?,
        };
        Ok(InputRequest { kind, extra })
    }
}

fn read_params<'de, A: MapAccess<'de>>(method: &str, map: &mut A) -> Result<InputKind, A::Error> {
    Ok(match method {
        method::ELICITATION_CREATE => InputKind::Elicit(map.next_value()?),
        method::SAMPLING_CREATE_MESSAGE => InputKind::CreateMessage(map.next_value()?),
        method::ROOTS_LIST => InputKind::ListRoots(map.next_value()?),
        _ => InputKind::Unknown {
            method: method.into(),
            params: Some(map.next_value()?),
        },
    })
}

/// Decodes params that preceded the method, or are missing.
fn from_buffered_params<E: de::Error>(
    method: &str,
    buffered: Option<RawJson>,
) -> Result<InputKind, E> {
    match (method, buffered) {
        (method::ELICITATION_CREATE, Some(params)) => params.decode().map(InputKind::Elicit),
        (method::SAMPLING_CREATE_MESSAGE, Some(params)) => {
            params.decode().map(InputKind::CreateMessage)
        }
        (method::ROOTS_LIST, Some(params)) => params.decode().map(InputKind::ListRoots),
        (method::ROOTS_LIST, None) => Ok(InputKind::ListRoots(None)),
        (method::ELICITATION_CREATE | method::SAMPLING_CREATE_MESSAGE, None) => {
            return Err(E::missing_field("params"));
        }
        (method, params) => Ok(InputKind::Unknown {
            method: method.into(),
            params,
        }),
    }
    .map_err(E::custom)
}
