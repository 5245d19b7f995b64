//! A child's standard error: always taken, and its end kept.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::ChildStderr,
    task::JoinHandle,
};

/// How much of the end is kept.
const TAIL_BYTES: usize = 4096;
/// The longest line that a listener is given; longer ones come in pieces.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// What becomes of a child's standard error.
///
/// Unless it is inherited or discarded, its last lines are kept for error
/// messages.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum StderrPolicy {
    /// Nothing else.
    #[default]
    Keep,
    /// Each line is given to a function, which should be quick. A panic in it
    /// costs the line.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
    /// Each line becomes an event of the level `INFO` for `tracing`, with the
    /// target `bowline::stderr` and the fields `server` and `line`. A panic of a
    /// subscriber costs the line.
    #[cfg(feature = "tracing")]
    Log,
    /// The child writes to the standard error of this process.
    Inherit,
    /// It goes nowhere.
    Discard,
}

impl StderrPolicy {
    /// Gives each line to `listener`.
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
    /// Where the child writes to.
    pub(super) fn stdio(&self) -> Stdio {
        match self {
            Self::Inherit => Stdio::inherit(),
            Self::Discard => Stdio::null(),
            _ => Stdio::piped(),
        }
    }

    /// Does what is to be done with a line of this server's. Whoever hears it is
    /// the application's code, and the child must never wait for somebody to
    /// read: a panic costs the line.
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

/// The reader of one child's standard error, where that comes to us.
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

    /// Waits until all was read.
    pub(super) async fn wait_finished(&mut self) {
        if let Some(task) = &mut self.task {
            // A task that was cancelled has read what it could.
            let _ = task.await;
        }
    }

    /// The last lines, if there were any.
    pub(super) fn tail(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend(&line);
            let excess = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..excess);
        }
        policy.handle_line(&server, String::from_utf8_lossy(&line).trim_end());
    }
}
