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

use super::{Reaper, alarm::Alarm, stderr::Stderr};
use crate::transport::{
    BoxFuture, Cause, CauseKind, CloseTracker, Link, LinkEvent, Outgoing, Refusal, StreamLink,
};

/// How long a child that closed its output has to end, so that its exit code
/// and last words can be told.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A child process and its pipes.
pub(super) struct ChildLink {
    /// `None` once closed.
    stream: Option<StreamLink<ChildStdout, ChildStdin>>,
    /// `None` while the end is being found out.
    process: Option<(Reaper, Stderr)>,
    /// Rings when the child may have ended.
    alarm: Alarm,
    ending: Option<BoxFuture<'static, (Cause, Reaper, Stderr)>>,
    /// Runs once the child has ended and its output has not: until then, what
    /// is left of it is read.
    drain: Option<Pin<Box<Sleep>>>,
    /// Where the child is seen to after the link was closed, by whomever and
    /// on whatever thread that may be.
    runtime: Handle,
    closing: CloseTracker,
}

impl ChildLink {
    pub(super) fn new(
        stream: StreamLink<ChildStdout, ChildStdin>,
        stderr: Stderr,
        reaper: Reaper,
        closing: CloseTracker,
    ) -> Self {
        Self {
            stream: Some(stream),
            process: Some((reaper, stderr)),
            alarm: Alarm::new(),
            ending: None,
            drain: None,
            runtime: Handle::current(),
            closing,
        }
    }

    /// Ready where the child has ended, and yet its output does not: somebody
    /// else holds it, who does not belong to the child any more.
    fn poll_abandoned(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.drain.is_none() {
            let Some((reaper, _)) = &mut self.process else {
                return Poll::Pending;
            };
            ready!(self.alarm.poll(cx, |cx| reaper.poll_ended(cx)));
        }
        let drain = self
            .drain
            .get_or_insert_with(|| Box::pin(sleep(LAST_WORDS)));
        drain.as_mut().poll(cx)
    }

    /// The output has ended: find out why.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if let Some((reaper, stderr)) = self.process.take() {
            self.ending = Some(Box::pin(last_words(reaper, stderr)));
        }
        let Some(ending) = &mut self.ending else {
            return Poll::Ready(LinkEvent::Down(CauseKind::Eof.into()));
        };
        let (cause, reaper, stderr) = ready!(Pin::new(ending).poll(cx));
        self.ending = None;
        self.process = Some((reaper, stderr));
        Poll::Ready(LinkEvent::Down(cause))
    }
}

async fn last_words(mut reaper: Reaper, mut stderr: Stderr) -> (Cause, Reaper, Stderr) {
    let mut cause = match timeout(LAST_WORDS, reaper.ended()).await {
        Ok(cause) => {
            let _ = timeout(LAST_WORDS, stderr.finished()).await;
            cause
        }
        Err(_) => CauseKind::Eof.into(),
    };
    if let Some(tail) = stderr.tail() {
        cause = cause.with_tail(tail);
    }
    (cause, reaper, stderr)
}

impl Link for ChildLink {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        match &mut self.stream {
            Some(stream) => stream.enqueue(outgoing),
            None => Err(Refusal::Failed(CauseKind::Eof.into())),
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stream {
            Some(stream) => stream.poll_write_queued(cx),
            None => Poll::Ready(()),
        }
    }

    fn flushes_anywhere(&self) -> bool {
        true
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let Some(stream) = &mut self.stream else {
            return self.poll_end(cx);
        };
        match stream.poll_read_frame(cx) {
            // The child lives, and says too much.
            Poll::Ready(LinkEvent::Down(cause))
                if matches!(cause.kind(), CauseKind::Oversize { .. }) =>
            {
                let cause = match self.last_words() {
                    Some(tail) => cause.with_tail(tail),
                    None => cause,
                };
                return Poll::Ready(LinkEvent::Down(cause));
            }
            Poll::Ready(LinkEvent::Down(_)) => {}
            Poll::Ready(event) => return Poll::Ready(event),
            Poll::Pending => ready!(self.poll_abandoned(cx)),
        }
        // Closing its input too lets a child end that waits for that.
        self.stream = None;
        self.poll_end(cx)
    }

    fn last_words(&self) -> Option<String> {
        self.process.as_ref().and_then(|(_, stderr)| stderr.tail())
    }

    fn close(mut self: Box<Self>) {
        // Closing its input is how a child is asked first.
        let stdout = self.stream.take().map(|stream| stream.into_parts().0);
        if let Some((reaper, _)) = self.process.take() {
            let task = self.closing.begin();
            self.runtime.spawn(async move {
                tokio::select! {
                    () = reaper.reap(task) => {}
                    () = discard(stdout) => {}
                }
            });
        } else if let Some(ending) = self.ending.take() {
            // It has closed its output, and may still have something to do.
            let task = self.closing.begin();
            self.runtime.spawn(async move {
                let ended = tokio::select! {
                    (_, reaper, _) = ending => Some(reaper),
                    () = task.forced() => None,
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
