//! The link to a child process: its pipes, and how it ended.

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
    SendError, StreamLink,
};

/// How long a child that closed its output has to end, so that its exit code
/// and last words can be told.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A child process and its pipes.
pub(super) struct ChildLink {
    /// `None` once closed.
    stream: Option<StreamLink<ChildStdout, ChildStdin>>,
    /// `None` while the end is being found out.
    process: Option<(Reaper, Stderr)>,
    /// Rings when the child may have ended.
    exit_gate: WakeGate,
    exiting: Option<BoxFuture<'static, (ConnectionError, Reaper, Stderr)>>,
    /// Runs once the child has ended and its output has not: until then, what
    /// is left of it is read.
    drain_timer: Option<Pin<Box<Sleep>>>,
    /// Where the child is seen to after the link was closed, by whomever and
    /// on whatever thread that may be.
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

    /// Ready where the child has ended, and yet its output does not: somebody
    /// else holds it, who does not belong to the child any more.
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

    /// The output has ended: find out why.
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

    fn can_flush_on_any_thread(&self) -> bool {
        true
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let Some(stream) = &mut self.stream else {
            return self.poll_end(cx);
        };
        match stream.poll_read_frame(cx) {
            // The child lives, and says too much.
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
        // Closing its input too lets a child end that waits for that.
        self.stream = None;
        self.poll_end(cx)
    }

    fn stderr_tail(&self) -> Option<String> {
        self.process.as_ref().and_then(|(_, stderr)| stderr.tail())
    }

    fn close(mut self: Box<Self>) {
        // Closing its input is how a child is asked first.
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
            // It has closed its output, and may still have something to do.
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
}

/// Reads what nobody wants any more, for as long as it is polled: a child that
/// still writes must neither block nor be ended by that.
async fn discard(stdout: Option<ChildStdout>) {
    if let Some(mut stdout) = stdout {
        let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
    }
    std::future::pending::<()>().await;
}
