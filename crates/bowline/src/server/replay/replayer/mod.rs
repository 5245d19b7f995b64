//! The replayer: runs a conversation again with the events that happened
//! before.
//!
//! Everything a conversation asks or does is registered here under an id. Known
//! events are delivered in the order they happened, one at a time, and the
//! conversation runs as far as it can after each. So it reaches the same
//! questions in the same order as before, even if it does several things
//! concurrently.
//!
//! New events are written to the journal of the conversation, if there is one:
//! the start of a step before it runs, and its outcome before it is delivered.
//! [`events`] keeps the known events in order, [`runner`] is the interface for
//! running the conversation, and [`step`] starts and ends steps.

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

/// The replayer of one run of a conversation.
#[derive(Debug)]
pub(crate) struct Replayer {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    events: EventQueue,
    /// The fingerprints of known ids.
    expected: HashMap<Box<str>, Fingerprint>,
    /// How many of them the conversation has not reached yet.
    missing_entries: usize,
    slots: HashMap<Box<str>, EntrySlot>,
    /// Unanswered questions, in the order they were asked.
    open_questions: Vec<OpenQuestion>,
    /// New steps that must wait until the conversation has reached everything
    /// expected.
    held_steps: HashMap<Box<str>, Waker>,
    /// New steps that wait until their start is written.
    starting_steps: HashMap<Box<str>, Waker>,
    /// Steps whose start is written, but which have not started.
    granted_steps: HashSet<Box<str>>,
    /// Steps that were abandoned before and are awaited again, with the time
    /// after which they were abandoned.
    abandoned_steps: HashMap<Box<str>, Duration>,
    /// The number of running steps.
    running_steps: usize,
    /// Whether there is a journal that steps must wait for.
    is_journaled: bool,
    /// Why nothing new may start, although nothing has failed.
    shutdown_reason: Option<RunFailure>,
    error: Option<RunFailure>,
    closed: bool,
    runner: Option<Waker>,
    /// Answers received with the first call, by key.
    early_answers: InputResponses,
}

#[derive(Debug)]
enum EntrySlot {
    Waiting(Option<Waker>),
    Ready(EntryOutcome),
    /// Delivered, or no longer awaited.
    Closed,
}

/// An unanswered question.
#[derive(Clone, Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) id: Box<str>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) question: InputRequest,
}

/// The history of a resumed conversation.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The events delivered in earlier rounds.
    pub(crate) before: Vec<Entry>,
    /// The answers it continues with.
    pub(crate) answers: Vec<Entry>,
    /// The events since then, from a round with the same answers that was
    /// interrupted or whose response was lost.
    pub(crate) since: Vec<Entry>,
}

/// The contents of a suspended conversation.
#[derive(Debug, Default)]
pub(crate) struct Suspension {
    /// The events.
    pub(crate) journal: Vec<Entry>,
    /// The questions it waits for.
    pub(crate) questions: Vec<OpenQuestion>,
}

/// The reason a conversation cannot continue in this round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunFailure {
    /// It takes another path than before.
    Diverged(Divergence),
    /// The server failed, and it is unknown whether the next side effect has
    /// happened. Nothing is delivered; repeating the round may succeed.
    Failed(ErrorObject),
    /// The caller disconnected, and the work that had to complete has.
    Abandoned,
    /// The conversation expired, and the work that had to complete has.
    Expired,
}

/// How a conversation differs from before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Divergence {
    /// The same id now has different contents.
    Changed(Box<str>),
    /// It does not ask or do this anymore.
    Missing(Box<str>),
    /// It abandoned this before, and now awaits it.
    Awaited(Box<str>),
}

/// The result of registering a question or step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryStatus {
    /// It happened before; its outcome will be delivered.
    Recorded,
    /// It is new.
    New,
    /// It differs from before. No outcome will be delivered.
    Diverged,
}

impl Replayer {
    /// Creates a replayer for a new conversation, whose client may send answers
    /// to questions by key.
    pub(crate) fn first_round(early_answers: InputResponses) -> Self {
        Self {
            inner: Mutex::new(Inner {
                events: EventQueue::new(),
                early_answers,
                ..Inner::default()
            }),
        }
    }

    /// Creates a replayer for a resumed conversation with a journal.
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

    /// Creates a replayer with these known events, without a journal.
    #[cfg(test)]
    pub(crate) fn without_journal(before: Vec<Entry>) -> Self {
        let replayer = Self::later_round(History {
            before,
            ..History::default()
        });
        replayer.lock().is_journaled = false;
        replayer
    }

    /// Takes the answer to a new question that was received with the call.
    pub(crate) fn take_early_answer(&self, key: &str) -> Option<RawJson> {
        self.lock().early_answers.remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// The interface for conversations.
impl Replayer {
    /// Registers a question or step of the conversation.
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

    /// Adds a new question.
    pub(crate) fn ask(&self, question: OpenQuestion) {
        let mut inner = self.lock();
        inner.open_questions.push(question);
        // It may have been asked by a separate task.
        inner.wake_runner();
    }

    /// Waits for an outcome. `None` once the conversation is suspended and
    /// nothing more is delivered.
    pub(crate) fn wait_outcome<'a>(&'a self, id: &'a str) -> OutcomeFuture<'a> {
        OutcomeFuture { replayer: self, id }
    }

    /// Records a new event without side effects: a clock reading, or an answer
    /// received in advance. It is delivered as it will be on replay: in turn,
    /// once the conversation can go no further by itself. If it continued at
    /// once, it would ask in a different order than on replay.
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

    /// Notes that this is the first round, although it has a journal: it repeats
    /// nothing that anyone has seen.
    pub(crate) fn mark_first_round(&self) {
        self.lock().events.mark_first_round();
    }

    /// Returns whether the conversation repeats what it did in earlier rounds,
    /// which the client has already seen.
    pub(crate) fn is_replaying(&self) -> bool {
        self.lock().events.is_replaying()
    }

    /// Returns whether the conversation was suspended or has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Returns the outcome that was or will be delivered for this id.
    pub(crate) fn outcome(&self, id: &str) -> Option<EntryOutcome> {
        self.lock().events.outcome(id).cloned()
    }

    /// Fails the round because of a server error.
    pub(crate) fn fail(&self, error: ErrorObject) {
        let mut inner = self.lock();
        inner.fail(RunFailure::Failed(error));
        inner.wake_runner();
    }

    /// Stops waiting for this id.
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
    /// Records a new event. With `is_effect`, it is delivered once it is
    /// written.
    fn record_event(&mut self, entry: Entry, is_effect: bool) {
        if self.closed {
            self.slots.insert(entry.id, EntrySlot::Ready(entry.outcome));
            return;
        }
        let must_persist_first = is_effect && self.is_journaled;
        self.events.push(entry, must_persist_first);
        self.wake_runner();
    }

    /// Records a failure. Only the first one counts.
    fn fail(&mut self, failure: RunFailure) {
        self.error.get_or_insert(failure);
    }

    fn wake_runner(&self) {
        if let Some(runner) = &self.runner {
            runner.wake_by_ref();
        }
    }
}

impl From<Divergence> for RunFailure {
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

/// Waits for an outcome.
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
