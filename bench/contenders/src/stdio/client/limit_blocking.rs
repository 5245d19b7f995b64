//! The least that does the work of a client, and blocks: calls and results are
//! encoded and decoded with types.

use std::borrow::Cow;

use super::{
    super::{
        arguments::Era,
        wire::{Arguments, Call, CallParams, Meta, Reply},
    },
    pipelined::Words,
};
use crate::Failure;

/// How a client speaks that looks at everything.
pub(super) struct Typed {
    meta: Option<Meta>,
}

impl Typed {
    pub(super) fn new(era: Era) -> Self {
        Self {
            meta: Meta::of(era),
        }
    }
}

impl Words for Typed {
    fn call(&mut self, id: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        write_call(id, text, self.meta, out)
    }

    fn answer(&mut self, line: &[u8]) -> Result<Option<(u64, Option<usize>)>, Failure> {
        let reply: Reply<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let Some(id) = reply.id else {
            return Ok(None);
        };
        let result = reply.result.filter(|result| !result.is_error);
        let block = result.and_then(|result| result.content.into_iter().next());
        let text = block
            .filter(|block| block.kind == "text")
            .map(|block| block.text);
        Ok(Some((id, text.map(|text| text.len()))))
    }
}

/// Writes a call as a line.
pub(super) fn write_call(
    id: u64,
    text: &str,
    meta: Option<Meta>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let call = Call {
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: CallParams {
            name: "echo",
            arguments: Arguments {
                text: Cow::Borrowed(text),
            },
            meta,
        },
    };
    serde_json::to_writer(&mut *out, &call).map_err(|error| error.to_string())?;
    out.push(b'\n');
    Ok(())
}
