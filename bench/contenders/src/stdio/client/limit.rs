//! The least that does the work of an asynchronous client: tasks that wait for
//! their answers, one task that reads and one that writes, all that is ready in
//! one write, and results that are decoded with types.

use std::{
    collections::HashMap,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{Notify, oneshot},
};

use super::{
    super::{
        arguments::Era,
        lines::Lines,
        start::Start,
        tasks::Caller,
        wire::{Meta, Reply, after, opening},
    },
    limit_blocking::write_call,
};
use crate::Failure;

/// The client, shared by the tasks that call.
#[derive(Clone)]
pub(super) struct Limit {
    shared: Arc<Shared>,
    meta: Option<Meta>,
    /// Waited for when all are done.
    child: Arc<Child>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to write, or nothing will ever be again.
    news: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    /// What is to be written.
    out: Vec<u8>,
    /// Who waits for which answer.
    waiting: HashMap<u64, oneshot::Sender<String>>,
    /// No more calls will be made.
    closing: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is to be written for what is empty. Whether it is the last.
    fn take(&self, out: &mut Vec<u8>) -> bool {
        let mut state = self.state();
        std::mem::swap(out, &mut state.out);
        state.closing
    }

    /// Leaves a call to be written, and waits for its answer.
    fn call(&self, text: &str, meta: Option<Meta>) -> Result<oneshot::Receiver<String>, Failure> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        write_call(id, text, meta, &mut state.out)?;
        state.waiting.insert(id, sender);
        Ok(answer)
    }
}

/// Connects to the server that it starts.
pub(super) async fn connect(start: &Start, era: Era) -> Result<Limit, Failure> {
    let failed = |error: std::io::Error| error.to_string();
    let mut command = Command::from(start.command());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let streams = child.stdout.take().zip(child.stdin.take());
    let (mut input, mut output) = streams.ok_or("the child has no streams")?;

    output
        .write_all(opening(era).as_bytes())
        .await
        .map_err(failed)?;
    let mut lines = Lines::new();
    while lines.next().is_none() {
        match input.read(lines.room()).await.map_err(failed)? {
            0 => return Err("the server ended".to_owned()),
            count => lines.filled(count),
        }
    }
    output
        .write_all(after(era).as_bytes())
        .await
        .map_err(failed)?;

    let shared = Arc::new(Shared {
        state: Mutex::new(State::default()),
        news: Notify::new(),
    });
    tokio::spawn(write(Arc::clone(&shared), output));
    tokio::spawn(read(Arc::clone(&shared), input, lines));
    Ok(Limit {
        shared,
        meta: Meta::of(era),
        child: Arc::new(child),
    })
}

/// Writes what is ready, until no more calls will be made.
async fn write(shared: Arc<Shared>, mut output: ChildStdin) -> Result<(), Failure> {
    let mut out = Vec::new();
    loop {
        shared.news.notified().await;
        loop {
            let closing = shared.take(&mut out);
            match out.is_empty() {
                true if closing => return Ok(()),
                true => break,
                false => output
                    .write_all(&out)
                    .await
                    .map_err(|error| error.to_string())?,
            }
            out.clear();
        }
    }
}

/// Gives answers to those who wait for them. When this ends, they learn that
/// there will be none.
async fn read(
    shared: Arc<Shared>,
    mut input: ChildStdout,
    mut lines: Lines,
) -> Result<(), Failure> {
    while let Ok(count @ 1..) = input.read(lines.room()).await {
        lines.filled(count);
        let mut state = shared.state();
        while let Some(line) = lines.next() {
            let Some((id, text)) = decode(line) else {
                continue;
            };
            if let Some(waiting) = state.waiting.remove(&id) {
                // A caller that went away wants no answer.
                let _ = waiting.send(text);
            }
        }
    }
    shared.state().waiting.clear();
    Ok(())
}

/// The text that came back, if it is one.
fn decode(line: &[u8]) -> Option<(u64, String)> {
    let reply: Reply<'_> = serde_json::from_slice(line).ok()?;
    let result = reply.result?;
    let block = result.content.into_iter().next()?;
    (!result.is_error && block.kind == "text").then_some((reply.id?, block.text.into_owned()))
}

impl Caller for Limit {
    async fn echo(&self, text: &Arc<str>) -> Result<Option<usize>, Failure> {
        let answer = self.shared.call(text, self.meta)?;
        self.shared.news.notify_one();
        match answer.await {
            Ok(text) => Ok(Some(text.len())),
            Err(_) => Err("there was no answer".to_owned()),
        }
    }

    async fn stop(self) {
        self.shared.state().closing = true;
        self.shared.news.notify_one();
        if let Some(mut child) = Arc::into_inner(self.child) {
            // How it ended does not matter any more.
            let _ = child.wait().await;
        }
    }
}
