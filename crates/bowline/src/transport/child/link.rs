//! The link to a child process: its pipes and its exit status.

use std::{
    future::Future as _,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    process::{ChildStdin, ChildStdout},
    runtime::Handle,
    time::{Sleep, sleep, timeout},
};

use super::{Reaper, stderr::Stderr, wake_gate::WakeGate};
use crate::transport::{
    BoxFuture, CloseTracker, ConnectionError, ConnectionErrorKind, Link, LinkEvent, OutgoingFrame,
    SendError, StreamLink, internal,
};

/// How long a child that closed its output has to exit, so the error can
/// include its exit code and last stderr lines.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A child process and its pipes.
pub(super) struct ChildLink {
    /// `None` once closed.
    stream: Option<StreamLink<ChildStdout, ChildStdin>>,
    /// `None` while the exit status is being determined.
    process: Option<(Reaper, Stderr)>,
    /// Wakes when the child may have exited.
    exit_gate: WakeGate,
    exiting: Option<BoxFuture<'static, (ConnectionError, Reaper, Stderr)>>,
    /// Runs once the child has exited while its output is still open: until
    /// then, the remaining output is read.
    drain_timer: Option<Pin<Box<Sleep>>>,
    /// Runs the shutdown after the link was closed, which may happen on any
    /// thread.
    runtime: Handle,
    close_tracker: CloseTracker,
}

impl ChildLink {
    pub(super) fn new(
        stream: StreamLink<ChildStdout, ChildStdin>,
        stderr: Stderr,
        reaper: Reaper,
        close_tracker: CloseTracker,
    ) -> Self {
        Self {
            stream: Some(stream),
            process: Some((reaper, stderr)),
            exit_gate: WakeGate::new(),
            exiting: None,
            drain_timer: None,
            runtime: Handle::current(),
            close_tracker,
        }
    }

    /// Ready if the child has exited but its output stays open: a process
    /// outside of the child's group still holds it.
    fn poll_orphaned_output(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.drain_timer.is_none() {
            let Some((reaper, _)) = &mut self.process else {
                return Poll::Pending;
            };
            ready!(self.exit_gate.poll(cx, |cx| reaper.poll_ended(cx)));
        }
        let drain = self
            .drain_timer
            .get_or_insert_with(|| Box::pin(sleep(EXIT_TIMEOUT)));
        drain.as_mut().poll(cx)
    }

    /// Determines why the output ended.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if let Some((reaper, stderr)) = self.process.take() {
            self.exiting = Some(Box::pin(exit_cause(reaper, stderr)));
        }
        let Some(exit) = &mut self.exiting else {
            return Poll::Ready(LinkEvent::Down(ConnectionErrorKind::Eof.into()));
        };
        let (cause, reaper, stderr) = ready!(Pin::new(exit).poll(cx));
        self.exiting = None;
        self.process = Some((reaper, stderr));
        Poll::Ready(LinkEvent::Down(cause))
    }
}

async fn exit_cause(mut reaper: Reaper, mut stderr: Stderr) -> (ConnectionError, Reaper, Stderr) {
    let mut cause = match timeout(EXIT_TIMEOUT, reaper.wait_ended()).await {
        Ok(cause) => {
            let _ = timeout(EXIT_TIMEOUT, stderr.wait_finished()).await;
            cause
        }
        Err(_) => ConnectionErrorKind::Eof.into(),
    };
    if let Some(tail) = stderr.tail() {
        cause = cause.with_detail(tail);
    }
    (cause, reaper, stderr)
}

impl Link for ChildLink {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        match &mut self.stream {
            Some(stream) => stream.enqueue(outgoing),
            None => Err(SendError::Failed(ConnectionErrorKind::Eof.into())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stream {
            Some(stream) => stream.poll_write_queued(cx),
            None => Poll::Ready(()),
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if let Some((reaper, _)) = &mut self.process {
            ready!(reaper.poll_guarded(cx));
        }
        let Some(stream) = &mut self.stream else {
            return self.poll_end(cx);
        };
        match stream.poll_read_frame(cx) {
            // The child is alive, and a frame exceeded the limit.
            Poll::Ready(LinkEvent::Down(cause))
                if matches!(cause.kind(), ConnectionErrorKind::OversizedFrame { .. }) =>
            {
                let cause = match self.stderr_tail() {
                    Some(tail) => cause.with_detail(tail),
                    None => cause,
                };
                return Poll::Ready(LinkEvent::Down(cause));
            }
            Poll::Ready(LinkEvent::Down(_)) => {}
            Poll::Ready(event) => return Poll::Ready(event),
            Poll::Pending => ready!(self.poll_orphaned_output(cx)),
        }
        // Close its input as well, for a child that waits for that before it
        // exits.
        self.stream = None;
        self.poll_end(cx)
    }

    fn stderr_tail(&self) -> Option<String> {
        self.process.as_ref().and_then(|(_, stderr)| stderr.tail())
    }

    fn close(mut self: Box<Self>) {
        // Closing its input is the first request to exit.
        let stdout = self.stream.take().map(|stream| stream.into_parts().0);
        if let Some((reaper, _)) = self.process.take() {
            let task = self.close_tracker.start_task();
            self.runtime.spawn(async move {
                tokio::select! {
                    () = reaper.reap(task) => {}
                    () = discard(stdout) => {}
                }
            });
        } else if let Some(exit) = self.exiting.take() {
            // It has closed its output but may still have work to do.
            let task = self.close_tracker.start_task();
            self.runtime.spawn(async move {
                let ended = tokio::select! {
                    (_, reaper, _) = exit => Some(reaper),
                    () = task.wait_forced() => None,
                };
                if let Some(reaper) = ended {
                    reaper.reap(task).await;
                }
            });
        }
    }

    fn can_flush_on_any_thread(&self, _: internal::Token) -> bool {
        true
    }
}

/// Reads and discards output for as long as it is polled, so a child that still
/// writes neither blocks nor dies of a broken pipe.
async fn discard(stdout: Option<ChildStdout>) {
    if let Some(mut stdout) = stdout {
        let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
    }
    std::future::pending::<()>().await;
}
