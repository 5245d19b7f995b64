//! How steps begin and end.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::time::Instant;

use super::{Inner, Slot, Stage};
use crate::server::replay::journal::{Entry, Mark, Outcome};

impl Stage {
    /// Begins a new step. It must end, or be dropped, before the conversation
    /// is put off. `None` if that has happened: a task of its own came too
    /// late, and what it did now would be done again when the conversation goes
    /// on.
    ///
    /// A conversation that takes the same path again does nothing new before
    /// it has come to all that is expected of it. So the step waits for that:
    /// off the path, nothing may have an effect. Then it waits until the
    /// journal, where there is one, says that it begins.
    pub(crate) fn begin<'a>(&'a self, id: &'a str, mark: Mark) -> Begin<'a> {
        Begin {
            stage: self,
            id,
            mark,
        }
    }
}

/// A step that is to begin.
pub(crate) struct Begin<'a> {
    stage: &'a Stage,
    id: &'a str,
    mark: Mark,
}

impl<'a> Future for Begin<'a> {
    type Output = Option<Running<'a>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Running<'a>>> {
        let mut inner = self.stage.lock();
        if inner.closed {
            return Poll::Ready(None);
        }
        if !inner.granted.remove(self.id) && !inner.may_begin(self.id, cx) {
            return Poll::Pending;
        }
        inner.running += 1;
        Poll::Ready(Some(Running {
            stage: self.stage,
            id: self.id,
            mark: self.mark,
            since: Instant::now(),
            ended: false,
        }))
    }
}

impl Inner {
    /// Whether a step may begin that the journal does not know. If not, it is
    /// noted that it wants to.
    fn may_begin(&mut self, id: &str, cx: &Context<'_>) -> bool {
        if self.fault.is_some() {
            // Soon all of this is dropped, and until then nothing may happen.
            return false;
        }
        if self.missing > 0 {
            let known = self.held.insert(id.into(), cx.waker().clone());
            if known.is_none() {
                self.wake_runner();
            }
            return false;
        }
        if self.winding_down.is_some() {
            return false;
        }
        if self.is_journaled {
            let known = self.beginning.insert(id.into(), cx.waker().clone());
            if known.is_none() {
                self.events.begin(id);
                self.wake_runner();
            }
            return false;
        }
        true
    }

    /// The step began, or the journal says so, and nobody knows what came of
    /// it. It may have had its effect, so it must not be begun again.
    pub(super) fn give_up(&mut self, id: &str, mark: Mark, seconds: u64) {
        let outcome = Outcome::GivenUp(seconds);
        self.slots.insert(id.into(), Slot::Over);
        let id = id.into();
        if !self.closed {
            self.happened(Entry { id, mark, outcome }, false);
        }
    }
}

impl Drop for Begin<'_> {
    fn drop(&mut self) {
        let mut inner = self.stage.lock();
        inner.held.remove(self.id);
        inner.beginning.remove(self.id);
        inner.events.call_off(self.id);
        if inner.granted.remove(self.id) {
            inner.give_up(self.id, self.mark, 0);
        }
    }
}

/// A step under way.
pub(crate) struct Running<'a> {
    stage: &'a Stage,
    id: &'a str,
    mark: Mark,
    since: Instant,
    ended: bool,
}

impl Running<'_> {
    pub(crate) fn end(mut self, outcome: Outcome) {
        self.ended = true;
        let (id, mark) = (self.id.into(), self.mark);
        self.stage
            .lock()
            .happened(Entry { id, mark, outcome }, true);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut inner = self.stage.lock();
        inner.running -= 1;
        if !self.ended {
            let seconds = self.since.elapsed().as_secs() + 1;
            inner.give_up(self.id, self.mark, seconds);
        }
        inner.wake_runner();
    }
}
