//! The least that does the work of a server: every message is decoded and
//! encoded with types, and the text that is returned is the one that came.

use std::borrow::Cow;

use serde::Serialize;

use super::{
    super::wire::{Answer, Block, Request, Said, prelude},
    Answers,
};
use crate::Failure;

/// A server of both eras.
#[derive(Default)]
pub(super) struct Limit {
    /// Whether there was a handshake. Without one, results say what they are.
    opened: bool,
}

impl Answers for Limit {
    fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let request: Request<'_> = serde_json::from_slice(line).map_err(|e| e.to_string())?;
        let Some(id) = request.id else {
            return Ok(());
        };
        if request.method == "tools/call" && request.params.name == "echo" {
            let block = Block {
                kind: Cow::Borrowed("text"),
                text: request.params.arguments.text,
            };
            let said = Said {
                content: [block],
                is_error: false,
                result_type: (!self.opened).then_some("complete"),
            };
            return write(id, said, out);
        }
        self.opened |= request.method == "initialize";
        match prelude(&request.method) {
            Some(result) => write(id, result, out),
            None => Err(format!("nobody answers {}", request.method)),
        }
    }
}

/// Writes an answer as a line.
pub(super) fn write<R: Serialize>(
    id: &serde_json::value::RawValue,
    result: R,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let answer = Answer {
        jsonrpc: "2.0",
        id,
        result,
    };
    serde_json::to_writer(&mut *out, &answer).map_err(|error| error.to_string())?;
    out.push(b'\n');
    Ok(())
}
