//! The least that is possible: calls that were written before, and answers of
//! which nothing but the id is known.

use std::io::Write as _;

use super::{
    super::{
        arguments::Plan,
        wire::{Envelope, Meta},
    },
    limit_blocking::write_call,
    pipelined::Words,
};
use crate::Failure;

/// How a client speaks that looks at nothing.
pub(super) struct Bare {
    meta: Option<Meta>,
    /// What is sent behind the id, and for which text it was written.
    rest: Vec<u8>,
    length: usize,
}

impl Bare {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            meta: Meta::of(plan.era),
            rest: Vec::new(),
            length: 0,
        }
    }

    /// Writes the call as others do, once, and takes what is behind the id.
    fn prepare(&mut self, text: &str) -> Result<(), Failure> {
        let mut call = Vec::new();
        write_call(0, text, self.meta, &mut call)?;
        let begin = BEGIN.len() + "0".len();
        self.rest = call.split_off(begin);
        self.length = text.len();
        Ok(())
    }
}

const BEGIN: &str = "{\"jsonrpc\":\"2.0\",\"id\":";

impl Words for Bare {
    fn call(&mut self, id: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.rest.is_empty() {
            self.prepare(text)?;
        }
        write!(out, "{BEGIN}{id}").map_err(|error| error.to_string())?;
        out.extend_from_slice(&self.rest);
        Ok(())
    }

    fn answer(&mut self, line: &[u8]) -> Result<Option<(u64, Option<usize>)>, Failure> {
        let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(|e| e.to_string())?;
        let id = envelope.id.and_then(|id| id.get().parse().ok());
        // A line that is too short for the text is no answer; one that is long
        // enough is taken for one.
        let length = (line.len() >= self.length).then_some(self.length);
        Ok(id.map(|id| (id, length)))
    }
}
