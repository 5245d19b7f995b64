//! What a conversation runs on, where it is told again what happened before.
//!
//! Everything that a conversation asks or does enters here under a name. What
//! is known of it is told in the order in which it happened, one thing at a
//! time, and the conversation runs as far as it can after each. So it comes to
//! the same questions in the same order as before, even where it does several
//! things at once.
//!
//! What happens for the first time is written to the journal of the
//! conversation, if there is one: that a step begins before it does, and what
//! came of it before the conversation is told. [`events`] keeps what is known
//! in its order, [`runner`] is for whoever runs the conversation, and [`step`]
//! is how steps begin and end.

mod events;
mod runner;
mod step;

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::journal::{Entry, Mark, Outcome};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{InputRequest, InputResponses},
    },
    sync::{Mutex, MutexGuard, lock},
};
use events::Events;
pub(crate) use events::Pending;
pub(crate) use runner::Next;

/// The stage of one run of a conversation.
#[derive(Debug)]
pub(crate) struct Stage {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    events: Events,
    /// What each name stands for that is known already.
    expected: HashMap<Box<str>, Mark>,
    /// How many of them the conversation has not come to yet.
    missing: usize,
    slots: HashMap<Box<str>, Slot>,
    /// Questions without an answer, in the order in which they were asked.
    open: Vec<Asked>,
    /// New steps that must wait until the conversation has come to all that
    /// is expected.
    held: HashMap<Box<str>, Waker>,
    /// New steps that wait until it is written down that they begin.
    beginning: HashMap<Box<str>, Waker>,
    /// Those of which it is, and which have not begun.
    granted: HashSet<Box<str>>,
    /// Steps that were given up before, and are waited for again, with the
    /// time that it took then.
    given_up: HashMap<Box<str>, Duration>,
    /// How many steps are under way.
    running: usize,
    /// Whether there is a journal, and steps wait for it.
    is_journaled: bool,
    /// Why nothing new begins, although nothing has failed.
    winding_down: Option<Fault>,
    fault: Option<Fault>,
    closed: bool,
    runner: Option<Waker>,
    /// Answers that came with a call that had not asked yet, by key.
    offered: InputResponses,
}

#[derive(Debug)]
enum Slot {
    Waiting(Option<Waker>),
    Ready(Outcome),
    /// Told, or no longer wanted.
    Over,
}

/// A question without an answer.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: Box<str>,
    pub(crate) mark: Mark,
    pub(crate) question: InputRequest,
}

/// What is known of a conversation that goes on.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// What it was told in earlier rounds.
    pub(crate) before: Vec<Entry>,
    /// The answers that it goes on with.
    pub(crate) answers: Vec<Entry>,
    /// What happened since, in a round with the same answers that was cut off
    /// or whose answer was lost.
    pub(crate) since: Vec<Entry>,
}

/// What is kept of a conversation that is put off.
#[derive(Debug, Default)]
pub(crate) struct PutOff {
    /// What happened.
    pub(crate) journal: Vec<Entry>,
    /// What it waits for.
    pub(crate) asked: Vec<Asked>,
}

/// Why a conversation cannot go on in this round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It takes another path than before.
    Diverged(Divergence),
    /// Something of the server's failed, and nobody can tell whether what it
    /// does next has been done. It is not told; who repeats the round may have
    /// more luck.
    Failed(ErrorObject),
    /// The caller has left, and what had to come to its end has.
    Abandoned,
    /// The time of the conversation is over, likewise.
    Expired,
}

/// How a conversation came to do other things than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Divergence {
    /// Under the same name it asks or does something else.
    Changed(Box<str>),
    /// It does not ask or do this any more.
    Missing(Box<str>),
    /// It gave this up before, and now it waits for it.
    Awaited(Box<str>),
}

/// What a conversation finds when it enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It happened before; the stage will tell.
    Recorded,
    /// It is new.
    New,
    /// It is something else than before. Nothing will come of it.
    Diverged,
}

impl Stage {
    /// A stage for a conversation that begins, and whose client may bring
    /// answers to questions that it knows by their keys.
    pub(crate) fn first(offered: InputResponses) -> Self {
        Self {
            inner: Mutex::new(Inner {
                events: Events::first(),
                offered,
                ..Inner::default()
            }),
        }
    }

    /// A stage for a conversation that goes on, and that has a journal.
    pub(crate) fn resumed(script: Script) -> Self {
        let events = Events::resumed(script);
        let expected: HashMap<_, _> = events
            .untold()
            .map(|entry| (entry.id.clone(), entry.mark))
            .collect();
        Self {
            inner: Mutex::new(Inner {
                missing: expected.len(),
                expected,
                events,
                is_journaled: true,
                ..Inner::default()
            }),
        }
    }

    /// A stage for a conversation of which this is known, without a journal.
    #[cfg(test)]
    pub(crate) fn new(before: Vec<Entry>) -> Self {
        let stage = Self::resumed(Script {
            before,
            ..Script::default()
        });
        stage.lock().is_journaled = false;
        stage
    }

    /// The answer to a new question that came along with the call.
    pub(crate) fn take_offer(&self, key: &str) -> Option<RawJson> {
        self.lock().offered.remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// For conversations.
impl Stage {
    /// Takes in something that a conversation asks or does.
    pub(crate) fn enter(&self, id: &str, mark: Mark) -> Entered {
        let mut inner = self.lock();
        let entered = match inner.expected.get(id) {
            None => Entered::New,
            Some(expected) if *expected == mark => {
                if !inner.slots.contains_key(id) {
                    inner.missing -= 1;
                }
                Entered::Recorded
            }
            Some(_) => {
                inner.fail(Divergence::Changed(id.into()).into());
                Entered::Diverged
            }
        };
        inner.slots.insert(id.into(), Slot::Waiting(None));
        inner.wake_runner();
        entered
    }

    /// A question that is new.
    pub(crate) fn ask(&self, asked: Asked) {
        let mut inner = self.lock();
        inner.open.push(asked);
        // It may have been asked by a task of its own.
        inner.wake_runner();
    }

    /// Waits to be told what came of it. `None` once the conversation is put
    /// off, and nothing will be told any more.
    pub(crate) fn told<'a>(&'a self, id: &'a str) -> Told<'a> {
        Told { stage: self, id }
    }

    /// Something new is known that had no effect: what time it is, an answer
    /// that was brought along. The conversation is told of it as it will be
    /// when it runs again: in turn, once it can go no further by itself. If it
    /// went on at once, it would ask in another order now than then.
    pub(crate) fn record(&self, id: &str, mark: Mark, outcome: Outcome) {
        let id = id.into();
        self.lock().happened(Entry { id, mark, outcome }, false);
    }

    /// Whether the conversation does again what it did in earlier rounds, and
    /// the client has been told of already.
    pub(crate) fn is_replaying(&self) -> bool {
        self.lock().events.is_replaying()
    }

    /// Whether the conversation was put off, or has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// What the conversation was told under this name, or will be.
    pub(crate) fn outcome(&self, id: &str) -> Option<Outcome> {
        self.lock().events.outcome(id).cloned()
    }

    /// The round cannot go on, since something of the server's failed.
    pub(crate) fn fail(&self, error: ErrorObject) {
        let mut inner = self.lock();
        inner.fail(Fault::Failed(error));
        inner.wake_runner();
    }

    /// Nobody waits for this any more.
    pub(crate) fn leave(&self, id: &str) {
        let mut inner = self.lock();
        inner.open.retain(|asked| &*asked.id != id);
        inner.given_up.remove(id);
        if let Some(slot) = inner.slots.get_mut(id) {
            *slot = Slot::Over;
        }
        inner.wake_runner();
    }
}

impl Inner {
    /// Takes note of something new. With `is_effect`, the conversation is told
    /// once it is written down.
    fn happened(&mut self, entry: Entry, is_effect: bool) {
        if self.closed {
            self.slots.insert(entry.id, Slot::Ready(entry.outcome));
            return;
        }
        let waits = is_effect && self.is_journaled;
        self.events.push(entry, waits);
        self.wake_runner();
    }

    /// The first fault is what counts.
    fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    fn wake_runner(&self) {
        if let Some(runner) = &self.runner {
            runner.wake_by_ref();
        }
    }
}

impl From<Divergence> for Fault {
    fn from(divergence: Divergence) -> Self {
        Self::Diverged(divergence)
    }
}

impl Slot {
    fn take_waker(&mut self) -> Option<Waker> {
        match self {
            Self::Waiting(waker) => waker.take(),
            Self::Ready(_) | Self::Over => None,
        }
    }

    fn into_waker(mut self) -> Option<Waker> {
        self.take_waker()
    }
}

/// Waits to be told what came of something.
pub(crate) struct Told<'a> {
    stage: &'a Stage,
    id: &'a str,
}

impl Future for Told<'_> {
    type Output = Option<Outcome>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let mut inner = self.stage.lock();
        let closed = inner.closed;
        let Some(slot) = inner.slots.get_mut(self.id) else {
            return Poll::Ready(None);
        };
        match slot {
            Slot::Ready(_) => {
                let Slot::Ready(outcome) = std::mem::replace(slot, Slot::Over) else {
                    return Poll::Ready(None);
                };
                Poll::Ready(Some(outcome))
            }
            Slot::Over => Poll::Ready(None),
            Slot::Waiting(_) if closed => Poll::Ready(None),
            Slot::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.stage.leave(self.id);
    }
}
