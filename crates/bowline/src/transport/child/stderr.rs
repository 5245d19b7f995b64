//! A child's standard error: always read, with its last lines kept.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Stdio,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::ChildStderr,
    task::JoinHandle,
};

use crate::sync;

/// Number of bytes kept from the end.
const TAIL_BYTES: usize = 4096;
/// The longest line passed to a listener; longer lines are split.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// How a child's standard error is handled.
///
/// Unless it is inherited or discarded, its last lines are kept for error
/// messages.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum StderrPolicy {
    /// Only keeps the last lines.
    #[default]
    Keep,
    /// Passes each line to a function, which should return quickly. If it
    /// panics, the line is lost.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
    /// Emits each line as a `tracing` event at level `INFO`, with the target
    /// `bowline::stderr` and the fields `server` and `line`. If a subscriber
    /// panics, the line is lost.
    #[cfg(feature = "tracing")]
    Log,
    /// The child writes to the standard error of this process.
    Inherit,
    /// Discards the output.
    Discard,
}

impl StderrPolicy {
    /// Passes each line to `listener`.
    pub fn lines(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(listener))
    }
}

impl fmt::Debug for StderrPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Lines(_) => "Lines",
            #[cfg(feature = "tracing")]
            Self::Log => "Log",
            Self::Inherit => "Inherit",
            Self::Discard => "Discard",
        })
    }
}

impl StderrPolicy {
    /// Returns the `Stdio` for the child.
    pub(super) fn stdio(&self) -> Stdio {
        match self {
            Self::Inherit => Stdio::inherit(),
            Self::Discard => Stdio::null(),
            _ => Stdio::piped(),
        }
    }

    /// Handles a line of this server. The listener is application code and the
    /// child must never block on writing, so a panic only costs the line.
    fn handle_line(&self, server: &str, line: &str) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.dispatch_line(server, line)));
    }

    #[cfg_attr(
        not(feature = "tracing"),
        expect(unused_variables, reason = "only logs name the server")
    )]
    fn dispatch_line(&self, server: &str, line: &str) {
        match self {
            Self::Lines(listener) => listener(line),
            #[cfg(feature = "tracing")]
            Self::Log => tracing::info!(target: "bowline::stderr", server, line),
            Self::Keep | Self::Inherit | Self::Discard => {}
        }
    }
}

/// Reads one child's standard error, if it is piped.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    tail: Arc<Mutex<VecDeque<u8>>>,
    task: Option<JoinHandle<()>>,
}

impl Stderr {
    pub(super) fn spawn_reader(
        stderr: Option<ChildStderr>,
        policy: StderrPolicy,
        server: String,
    ) -> Self {
        let tail = Arc::default();
        let reading = stderr.map(|stderr| read(stderr, policy, server, Arc::clone(&tail)));
        let task = reading.map(tokio::spawn);
        Self { tail, task }
    }

    /// Waits until the output was read to its end.
    pub(super) async fn wait_finished(&mut self) {
        if let Some(task) = &mut self.task {
            // A cancelled task has read what it could.
            let _ = task.await;
        }
    }

    /// Returns the last lines, if there were any.
    pub(super) fn tail(&self) -> Option<String> {
        let tail = sync::lock(&self.tail);
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

async fn read(
    stderr: ChildStderr,
    policy: StderrPolicy,
    server: String,
    tail: Arc<Mutex<VecDeque<u8>>>,
) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        {
            let mut tail = sync::lock(&tail);
            tail.extend(&line);
            let excess = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..excess);
        }
        policy.handle_line(&server, String::from_utf8_lossy(&line).trim_end());
    }
}
