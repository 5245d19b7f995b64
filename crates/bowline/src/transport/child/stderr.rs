//! A child's standard error: always read, and its end kept.

use std::{
    collections::VecDeque,
    fmt,
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
const LINE_BYTES: u64 = 16 * 1024;

/// What becomes of a child's standard error, besides that its end is kept.
#[derive(Clone, Default)]
pub enum StderrPolicy {
    /// Nothing else.
    #[default]
    Keep,
    /// Each line is given to a function, which should be quick.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
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
        })
    }
}

/// The reader of one child's standard error.
#[derive(Debug)]
pub(super) struct Stderr {
    tail: Arc<Mutex<VecDeque<u8>>>,
    task: JoinHandle<()>,
}

impl Stderr {
    pub(super) fn follow(stderr: ChildStderr, policy: StderrPolicy) -> Self {
        let tail = Arc::default();
        let task = tokio::spawn(read(stderr, policy, Arc::clone(&tail)));
        Self { tail, task }
    }

    /// Waits until all was read.
    pub(super) async fn finished(&mut self) {
        // A task that was cancelled has read what it could.
        let _ = (&mut self.task).await;
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

async fn read(stderr: ChildStderr, policy: StderrPolicy, tail: Arc<Mutex<VecDeque<u8>>>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader)
            .take(LINE_BYTES)
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
        if let StderrPolicy::Lines(listener) = &policy {
            listener(String::from_utf8_lossy(&line).trim_end());
        }
    }
}
