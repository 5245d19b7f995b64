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

use super::journal::{Entry, EntryOutcome, Fingerprint};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{InputRequest, InputResponses},
    },
    sync::{Mutex, MutexGuard, lock},
};
use events::EventQueue;
pub(crate) use events::PendingWrite;
pub(crate) use runner::Action;

/// The stage of one run of a conversation.
#[derive(Debug)]
pub(crate) struct Replayer {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    events: EventQueue,
    /// What each name stands for that is known already.
    expected: HashMap<Box<str>, Fingerprint>,
    /// How many of them the conversation has not come to yet.
    missing_entries: usize,
    slots: HashMap<Box<str>, EntrySlot>,
    /// Questions without an answer, in the order in which they were asked.
    open_questions: Vec<OpenQuestion>,
    /// New steps that must wait until the conversation has come to all that
    /// is expected.
    held_steps: HashMap<Box<str>, Waker>,
    /// New steps that wait until it is written down that they begin.
    starting_steps: HashMap<Box<str>, Waker>,
    /// Those of which it is, and which have not begun.
    granted_steps: HashSet<Box<str>>,
    /// Steps that were given up before, and are waited for again, with the
    /// time that it took then.
    abandoned_steps: HashMap<Box<str>, Duration>,
    /// How many steps are under way.
    running_steps: usize,
    /// Whether there is a journal, and steps wait for it.
    is_journaled: bool,
    /// Why nothing new begins, although nothing has failed.
    shutdown_reason: Option<ReplayError>,
    error: Option<ReplayError>,
    closed: bool,
    runner: Option<Waker>,
    /// Answers that came with a call that had not asked yet, by key.
    early_answers: InputResponses,
}

#[derive(Debug)]
enum EntrySlot {
    Waiting(Option<Waker>),
    Ready(EntryOutcome),
    /// Told, or no longer wanted.
    Closed,
}

/// A question without an answer.
#[derive(Clone, Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) id: Box<str>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) question: InputRequest,
}

/// What is known of a conversation that goes on.
#[derive(Debug, Default)]
pub(crate) struct History {
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
pub(crate) struct Suspension {
    /// What happened.
    pub(crate) journal: Vec<Entry>,
    /// What it waits for.
    pub(crate) questions: Vec<OpenQuestion>,
}

/// Why a conversation cannot go on in this round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplayError {
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
pub(crate) enum EntryStatus {
    /// It happened before; the stage will tell.
    Recorded,
    /// It is new.
    New,
    /// It is something else than before. Nothing will come of it.
    Diverged,
}

impl Replayer {
    /// A stage for a conversation that begins, and whose client may bring
    /// answers to questions that it knows by their keys.
    pub(crate) fn first_round(early_answers: InputResponses) -> Self {
        Self {
            inner: Mutex::new(Inner {
                events: EventQueue::new(),
                early_answers,
                ..Inner::default()
            }),
        }
    }

    /// A stage for a conversation that goes on, and that has a journal.
    pub(crate) fn later_round(history: History) -> Self {
        let events = EventQueue::from_history(history);
        let expected: HashMap<_, _> = events
            .undelivered()
            .map(|entry| (entry.id.clone(), entry.fingerprint))
            .collect();
        Self {
            inner: Mutex::new(Inner {
                missing_entries: expected.len(),
                expected,
                events,
                is_journaled: true,
                ..Inner::default()
            }),
        }
    }

    /// A stage for a conversation of which this is known, without a journal.
    #[cfg(test)]
    pub(crate) fn without_journal(before: Vec<Entry>) -> Self {
        let replayer = Self::later_round(History {
            before,
            ..History::default()
        });
        replayer.lock().is_journaled = false;
        replayer
    }

    /// The answer to a new question that came along with the call.
    pub(crate) fn take_early_answer(&self, key: &str) -> Option<RawJson> {
        self.lock().early_answers.remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// For conversations.
impl Replayer {
    /// Takes in something that a conversation asks or does.
    pub(crate) fn register(&self, id: &str, fingerprint: Fingerprint) -> EntryStatus {
        let mut inner = self.lock();
        let status = match inner.expected.get(id) {
            None => EntryStatus::New,
            Some(expected) if *expected == fingerprint => {
                if !inner.slots.contains_key(id) {
                    inner.missing_entries -= 1;
                }
                EntryStatus::Recorded
            }
            Some(_) => {
                inner.fail(Divergence::Changed(id.into()).into());
                EntryStatus::Diverged
            }
        };
        inner.slots.insert(id.into(), EntrySlot::Waiting(None));
        inner.wake_runner();
        status
    }

    /// A question that is new.
    pub(crate) fn ask(&self, question: OpenQuestion) {
        let mut inner = self.lock();
        inner.open_questions.push(question);
        // It may have been asked by a task of its own.
        inner.wake_runner();
    }

    /// Waits to be told what came of it. `None` once the conversation is put
    /// off, and nothing will be told any more.
    pub(crate) fn wait_outcome<'a>(&'a self, id: &'a str) -> OutcomeFuture<'a> {
        OutcomeFuture { replayer: self, id }
    }

    /// Something new is known that had no effect: what time it is, an answer
    /// that was brought along. The conversation is told of it as it will be
    /// when it runs again: in turn, once it can go no further by itself. If it
    /// went on at once, it would ask in another order now than then.
    pub(crate) fn record(&self, id: &str, fingerprint: Fingerprint, outcome: EntryOutcome) {
        let id = id.into();
        self.lock().record_event(
            Entry {
                id,
                fingerprint,
                outcome,
            },
            false,
        );
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
    pub(crate) fn outcome(&self, id: &str) -> Option<EntryOutcome> {
        self.lock().events.outcome(id).cloned()
    }

    /// The round cannot go on, since something of the server's failed.
    pub(crate) fn fail(&self, error: ErrorObject) {
        let mut inner = self.lock();
        inner.fail(ReplayError::Failed(error));
        inner.wake_runner();
    }

    /// Nobody waits for this any more.
    pub(crate) fn stop_waiting(&self, id: &str) {
        let mut inner = self.lock();
        inner.open_questions.retain(|question| &*question.id != id);
        inner.abandoned_steps.remove(id);
        if let Some(slot) = inner.slots.get_mut(id) {
            *slot = EntrySlot::Closed;
        }
        inner.wake_runner();
    }
}

impl Inner {
    /// Takes note of something new. With `is_effect`, the conversation is told
    /// once it is written down.
    fn record_event(&mut self, entry: Entry, is_effect: bool) {
        if self.closed {
            self.slots.insert(entry.id, EntrySlot::Ready(entry.outcome));
            return;
        }
        let must_persist_first = is_effect && self.is_journaled;
        self.events.push(entry, must_persist_first);
        self.wake_runner();
    }

    /// The first fault is what counts.
    fn fail(&mut self, replay_error: ReplayError) {
        self.error.get_or_insert(replay_error);
    }

    fn wake_runner(&self) {
        if let Some(runner) = &self.runner {
            runner.wake_by_ref();
        }
    }
}

impl From<Divergence> for ReplayError {
    fn from(divergence: Divergence) -> Self {
        Self::Diverged(divergence)
    }
}

impl EntrySlot {
    fn take_waker(&mut self) -> Option<Waker> {
        match self {
            Self::Waiting(waker) => waker.take(),
            Self::Ready(_) | Self::Closed => None,
        }
    }

    fn into_waker(mut self) -> Option<Waker> {
        self.take_waker()
    }
}

/// Waits to be told what came of something.
pub(crate) struct OutcomeFuture<'a> {
    replayer: &'a Replayer,
    id: &'a str,
}

impl Future for OutcomeFuture<'_> {
    type Output = Option<EntryOutcome>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<EntryOutcome>> {
        let mut inner = self.replayer.lock();
        let closed = inner.closed;
        let Some(slot) = inner.slots.get_mut(self.id) else {
            return Poll::Ready(None);
        };
        match slot {
            EntrySlot::Ready(_) => {
                let EntrySlot::Ready(outcome) = std::mem::replace(slot, EntrySlot::Closed) else {
                    return Poll::Ready(None);
                };
                Poll::Ready(Some(outcome))
            }
            EntrySlot::Closed => Poll::Ready(None),
            EntrySlot::Waiting(_) if closed => Poll::Ready(None),
            EntrySlot::Waiting(waker) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for OutcomeFuture<'_> {
    fn drop(&mut self) {
        self.replayer.stop_waiting(self.id);
    }
}
