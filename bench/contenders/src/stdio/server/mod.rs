//! The servers: all have the tool `echo`, which takes a text and returns it.

mod bare;
mod limit;
mod ours;
mod rmcp;
mod rmcp_tuned;

use std::io::{Read as _, Write as _};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{lines::Lines, pipes, tasks};
use crate::Failure;

/// Serves until the input ends. `bytes` is how long the text is that a server
/// returns which does not look at what it is given.
pub(crate) fn serve(name: &str, bytes: usize) -> Result<(), Failure> {
    match name {
        "ours" => tasks::many_threads()?.block_on(ours::serve()),
        "ours-builder" => tasks::many_threads()?.block_on(ours::serve_built()),
        "ours-one-thread" => tasks::one_thread()?.block_on(ours::serve()),
        "rmcp" => tasks::many_threads()?.block_on(rmcp::serve()),
        "rmcp-tuned" => tasks::one_thread()?.block_on(rmcp_tuned::serve()),
        "limit" => tasks::one_thread()?.block_on(asynchronous(limit::Limit::default())),
        "limit-blocking" => blocking(limit::Limit::default()),
        "bare" => blocking(bare::Bare::new(bytes)?),
        _ => Err(format!("there is no server {name:?}")),
    }
}

/// What a limit does with a message.
trait Answers {
    /// Writes the answer, if there is one, behind what is there.
    fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Failure>;
}

/// Answers all that has come with one write, and waits in a runtime.
async fn asynchronous(mut server: impl Answers) -> Result<(), Failure> {
    pipes::enlarge();
    let failed = |error: std::io::Error| error.to_string();
    let (mut input, mut output) = pipes::non_blocking().map_err(failed)?;
    let (mut lines, mut out) = (Lines::new(), Vec::new());
    loop {
        let count = input.read(lines.room()).await.map_err(failed)?;
        if count == 0 {
            return Ok(());
        }
        lines.filled(count);
        while let Some(line) = lines.next() {
            server.answer(line, &mut out)?;
        }
        if !out.is_empty() {
            output.write_all(&out).await.map_err(failed)?;
            out.clear();
        }
    }
}

/// Answers all that has come with one write, and waits in the system.
fn blocking(mut server: impl Answers) -> Result<(), Failure> {
    pipes::enlarge();
    let failed = |error: std::io::Error| error.to_string();
    let (mut input, mut output) = pipes::blocking().map_err(failed)?;
    let (mut lines, mut out) = (Lines::new(), Vec::new());
    loop {
        let count = input.read(lines.room()).map_err(failed)?;
        if count == 0 {
            return Ok(());
        }
        lines.filled(count);
        while let Some(line) = lines.next() {
            server.answer(line, &mut out)?;
        }
        if !out.is_empty() {
            output.write_all(&out).map_err(failed)?;
            out.clear();
        }
    }
}
