//! The least that is possible: of a call nothing but the id is known, and the
//! result was written before.

use super::{
    super::{
        load::sample,
        wire::{Block, Envelope, Said, prelude},
    },
    Answers, limit,
};
use crate::Failure;

/// A server that always says the same.
pub(super) struct Bare {
    /// All of an answer behind the id.
    rest: Vec<u8>,
}

impl Bare {
    /// It will return a text of that length. What it says about the result is
    /// what the later era wants, and the earlier one does not mind.
    pub(super) fn new(bytes: usize) -> Result<Self, Failure> {
        let block = Block {
            kind: "text".into(),
            text: sample(bytes).into(),
        };
        let said = Said {
            content: [block],
            is_error: false,
            result_type: Some("complete"),
        };
        let result = serde_json::to_string(&said).map_err(|error| error.to_string())?;
        Ok(Self {
            rest: format!(",\"result\":{result}}}\n").into_bytes(),
        })
    }
}

impl Answers for Bare {
    fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(|e| e.to_string())?;
        let Some(id) = envelope.id else {
            return Ok(());
        };
        if envelope.method != "tools/call" {
            let result = prelude(&envelope.method);
            return limit::write(id, result.ok_or("what is that?")?, out);
        }
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        out.extend_from_slice(id.get().as_bytes());
        out.extend_from_slice(&self.rest);
        Ok(())
    }
}
