//! The journal of a conversation: its events in the order they were delivered.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::{
    canonical::canonicalize,
    proto::{jsonrpc::RawJson, model::InputRequest},
    server::error::{Error, ErrorKind, Result},
};

/// The outcome of one question or step, as delivered to the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The id of the question or step; unique.
    #[serde(rename = "i")]
    pub(crate) id: Box<str>,
    /// Identifies its contents.
    #[serde(rename = "m")]
    pub(crate) fingerprint: Fingerprint,
    /// Its outcome.
    #[serde(rename = "o")]
    pub(crate) outcome: EntryOutcome,
}

/// The outcome of a question or step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum EntryOutcome {
    /// The client's answer, or the result of the step.
    #[serde(rename = "v")]
    Value(RawJson),
    /// The step failed, for this reason.
    #[serde(rename = "f")]
    Failed(Box<str>),
    /// The conversation started the step and dropped it before its end, after
    /// this many seconds. Nothing is delivered, and it will drop it again.
    #[serde(rename = "d")]
    Abandoned(u64),
    /// The step was started on a node that died, and its outcome is unknown.
    #[serde(rename = "u")]
    Unknown,
}

impl EntryOutcome {
    /// Converts the result of a step.
    pub(crate) fn from_result<T: Serialize>(ended: Result<T>) -> Self {
        let encoded = ended.and_then(|value| Ok(RawJson::encode(&value)?));
        match encoded {
            Ok(value) => Self::Value(value),
            Err(error) => Self::Failed(error.to_string().into()),
        }
    }

    /// Decodes the result of a step. An error is always returned as a handler
    /// error, whatever kind it had: the journal keeps its message only.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        match self {
            Self::Value(value) => Ok(value.decode()?),
            Self::Failed(why) => Err(Error::failed(why.to_string())),
            Self::Unknown => Err(Error::with_kind(
                ErrorKind::OutcomeUnknown,
                "this step was started before and its outcome is unknown",
            )),
            // Never delivered.
            Self::Abandoned(_) => Err(Error::internal("an abandoned step has no value")),
        }
    }
}

/// The same for equal questions, and very likely different for others. It
/// guards against mistakes; the seal guards against attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Ignores the order of object members: a question built from a hash map
    /// has a different order on every node.
    pub(crate) fn for_question(question: &InputRequest) -> Result<Self> {
        let json = serde_json::to_vec(question)?;
        Ok(Self::from_parts("question", &canonicalize(&json)))
    }

    pub(crate) fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    pub(crate) fn for_step(name: &str) -> Self {
        Self::from_parts("step", name.as_bytes())
    }

    fn from_parts(kind: &str, content: &[u8]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = digest([kind.as_bytes(), content]);
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// Returns a digest of several strings that depends on where they are divided.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Encodes a digest with characters that any key may contain.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        digits.push(DIGITS[usize::from(byte >> 4)]);
        digits.push(DIGITS[usize::from(byte & 15)]);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_the_same_in_whatever_order_its_fields_are() {
        let fingerprint = |form: &str| {
            let question = format!(
                r#"{{"method": "elicitation/create", "params": {{"message": "?",
                    "requestedSchema": {{"type": "object", "properties": {form}}}}}}}"#
            );
            let question: InputRequest = serde_json::from_str(&question).expect("a question");
            Fingerprint::for_question(&question).expect("it can be written")
        };
        let one = fingerprint(r#"{"b": {"type": "string"}, "a": {"type": "boolean"}}"#);
        let other = fingerprint(r#"{"a": {"type": "boolean"}, "b": {"type": "string"}}"#);
        assert_eq!(one, other);
        let another = fingerprint(r#"{"a": {"type": "string"}, "b": {"type": "boolean"}}"#);
        assert_ne!(one, another);
    }
}
