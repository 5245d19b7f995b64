//! A client on rmcp, with everything set as is best for it: large reads, calls
//! that do not clone their parameters, one thread.

use std::{process::Stdio, sync::Arc};

use rmcp::model::CallToolResponse;
use tokio::{
    io::BufReader,
    process::{Child, Command},
};

use super::{
    super::{arguments::Era, start::Start, tasks::Caller},
    rmcp::{Running, call, cancel, length, open},
};
use crate::Failure;

/// Its own buffer has 8 KiB. What is read into a larger one before it takes
/// fewer reads.
const READ_BYTES: usize = 256 * 1024;

/// The client, shared by the tasks that call.
#[derive(Clone)]
pub(super) struct Tuned {
    client: Running,
    /// Waited for when all are done.
    child: Arc<Child>,
}

/// Connects to the server that it starts.
pub(super) async fn connect(start: &Start, era: Era) -> Result<Tuned, Failure> {
    let mut command = Command::from(start.command());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let streams = child.stdout.take().zip(child.stdin.take());
    let (input, output) = streams.ok_or("the child has no streams")?;
    let input = BufReader::with_capacity(READ_BYTES, input);
    Ok(Tuned {
        client: open((input, output), era).await?,
        child: Arc::new(child),
    })
}

impl Caller for Tuned {
    async fn echo(&self, text: &Arc<str>) -> Result<Option<usize>, Failure> {
        match self.client.call_tool_once(call(text)).await {
            Ok(CallToolResponse::Complete(result)) => Ok(length(&result)),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn stop(self) {
        cancel(self.client).await;
        if let Some(mut child) = Arc::into_inner(self.child) {
            // How it ended does not matter any more.
            let _ = child.wait().await;
        }
    }
}
