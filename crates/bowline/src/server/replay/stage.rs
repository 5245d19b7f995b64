//! What a conversation runs on, where it is told again what happened before.
//!
//! Everything that a conversation asks or does enters here under a name. What
//! the journal knows of it is told in the order of the journal, one thing at a
//! time, and the conversation runs as far as it can after each. So it comes to
//! the same questions in the same order as before, even where it does several
//! things at once.

use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::Instant;

use super::journal::{Entry, Mark, Outcome};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::{InputRequest, InputResponses},
};

/// How long a conversation may take to do what is expected of it, once it can
/// go no further otherwise.
const PATIENCE: Duration = Duration::from_secs(2);

/// The stage of one run of a conversation.
#[derive(Debug)]
pub(crate) struct Stage {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// What is still to be told: what happened before, and after that what
    /// happened since.
    script: VecDeque<Entry>,
    /// What each name in the script stands for.
    expected: HashMap<Box<str>, Mark>,
    /// How many of them the conversation has not come to yet.
    missing: usize,
    /// What was told.
    journal: Vec<Entry>,
    slots: HashMap<Box<str>, Slot>,
    /// Questions without an answer, in the order in which they were asked.
    open: Vec<Asked>,
    /// New steps that must wait until the conversation has come to all that
    /// is expected.
    held: HashMap<Box<str>, Waker>,
    /// Steps that were given up before, and are waited for again, with the
    /// time that it took then.
    given_up: HashMap<Box<str>, Duration>,
    /// How many steps are under way.
    running: usize,
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

/// What is to be done when a conversation can go no further by itself.
#[derive(Debug)]
pub(crate) enum Next {
    /// Run it again; it was told something.
    Again,
    /// Wait for what it waits for.
    Wait,
    /// It waits for answers, and for nothing that must be waited for. It has
    /// been put off, and this is what is to be kept of it.
    Suspend(PutOff),
    /// It has not done all that is expected, and if it does not within this
    /// time, it never will.
    Stuck(Fault, Duration),
    Fail(Fault),
}

impl Stage {
    /// A stage for a conversation of which this is known.
    pub(crate) fn new(journal: Vec<Entry>) -> Self {
        let expected = journal.iter().map(|it| (it.id.clone(), it.mark));
        let expected: HashMap<_, _> = expected.collect();
        Self {
            inner: Mutex::new(Inner {
                script: journal.into(),
                missing: expected.len(),
                expected,
                ..Inner::default()
            }),
        }
    }

    /// A stage for a conversation that begins, and whose client brings answers
    /// to questions that it knows by their keys.
    pub(crate) fn offered(answers: InputResponses) -> Self {
        let stage = Self::new(Vec::new());
        stage.lock().offered = answers;
        stage
    }

    /// The answer to a new question that came along with the call.
    pub(crate) fn take_offer(&self, key: &str) -> Option<RawJson> {
        self.lock().offered.remove(key)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that holds the lock can panic halfway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For conversations.
impl Stage {
    /// Takes in something that a conversation asks or does.
    pub(crate) fn enter(&self, id: &str, mark: Mark) -> Entered {
        let mut inner = self.lock();
        if inner.expected.contains_key(id) && !inner.slots.contains_key(id) {
            inner.missing -= 1;
        }
        let entered = match inner.expected.get(id) {
            None => Entered::New,
            Some(expected) if *expected == mark => Entered::Recorded,
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

    /// Begins a new step. It must end, or be dropped, before the conversation
    /// is put off. `None` if that has happened: a task of its own came too
    /// late, and what it did now would be done again when the conversation goes
    /// on.
    ///
    /// A conversation that takes the same path again does nothing new before
    /// it has come to all that is expected of it. So the step waits for that:
    /// off the path, nothing may have an effect.
    pub(crate) fn begin<'a>(&'a self, id: &'a str, mark: Mark) -> Begin<'a> {
        Begin {
            stage: self,
            id,
            mark,
        }
    }

    /// Something new came to its end. The conversation is told of it as it
    /// will be when it runs again: in turn, once it can go no further by
    /// itself. If it went on at once, it would ask in another order now than
    /// then.
    pub(crate) fn record(&self, id: &str, mark: Mark, outcome: Outcome) {
        let mut inner = self.lock();
        if inner.closed {
            inner.slots.insert(id.into(), Slot::Ready(outcome));
            return;
        }
        let id = id.into();
        inner.script.push_back(Entry { id, mark, outcome });
        inner.wake_runner();
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

/// For whoever runs the conversation.
impl Stage {
    /// Whom to wake when something happens outside of the conversation's own
    /// future.
    pub(crate) fn watch(&self, runner: &Waker) {
        match &mut self.lock().runner {
            Some(known) => known.clone_from(runner),
            none => *none = Some(runner.clone()),
        }
    }

    /// The conversation can go no further by itself.
    ///
    /// If it is to be put off, that happens here, under the lock that it was
    /// decided under: a step that a task on another thread began in between
    /// would be in no journal, and happen again.
    pub(crate) fn next(&self) -> Next {
        let mut inner = self.lock();
        if let Some(fault) = &inner.fault {
            return Next::Fail(fault.clone());
        }
        if inner.tell_next() {
            return Next::Again;
        }
        if inner.release_held() {
            return Next::Again;
        }
        if inner.running > 0 {
            return Next::Wait;
        }
        // All that it came to has been told.
        let anew = !inner.open.is_empty() || !inner.held.is_empty();
        match inner.script.front() {
            None if anew => {
                let (kept, waiting) = inner.close();
                drop(inner);
                waiting.into_iter().for_each(Waker::wake);
                Next::Suspend(kept)
            }
            Some(missing) if anew => {
                let missing = Divergence::Missing(missing.id.clone());
                Next::Stuck(missing.into(), inner.patience())
            }
            // There is nothing but to wait: for ever, or for what was given up
            // before to be given up again.
            _ => match inner.given_up.keys().next() {
                Some(id) => Next::Stuck(Divergence::Awaited(id.clone()).into(), inner.patience()),
                None => Next::Wait,
            },
        }
    }

    /// The conversation came to its end: it must have been through all that
    /// was known of it.
    pub(crate) fn check_end(&self) -> Result<(), Fault> {
        let inner = self.lock();
        if let Some(fault) = &inner.fault {
            return Err(fault.clone());
        }
        let untold = inner.script.iter();
        match untold
            .map(|it| &it.id)
            .find(|id| !inner.slots.contains_key(*id))
        {
            Some(missing) => Err(Divergence::Missing(missing.clone()).into()),
            None => Ok(()),
        }
    }

    /// Nothing is told any more, and nothing begins. Whoever still waits is let
    /// go.
    pub(crate) fn close(&self) {
        let (_, waiting) = self.lock().close();
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Puts the conversation off, and hands over what is to be kept of it, and
    /// who waits: they are to be woken once the lock is free.
    fn close(&mut self) -> (PutOff, Vec<Waker>) {
        self.closed = true;
        let slots = self.slots.values_mut();
        let mut waiting: Vec<_> = slots.filter_map(Slot::take_waker).collect();
        waiting.extend(self.held.drain().map(|(_, waker)| waker));
        let kept = PutOff {
            journal: std::mem::take(&mut self.journal),
            asked: std::mem::take(&mut self.open),
        };
        (kept, waiting)
    }

    /// The first fault is what counts.
    fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Tells the first thing in the script that is waited for. Says whether
    /// there was one.
    fn tell_next(&mut self) -> bool {
        let slots = &mut self.slots;
        let asked = |entry: &Entry| slots.contains_key(&entry.id);
        let Some(at) = self.script.iter().position(asked) else {
            return false;
        };
        let Some(entry) = self.script.remove(at) else {
            return false;
        };
        match (self.slots.get_mut(&entry.id), &entry.outcome) {
            (Some(Slot::Waiting(_)), Outcome::GivenUp(seconds)) => {
                let took = Duration::from_secs(*seconds);
                self.given_up.insert(entry.id.clone(), took);
            }
            (Some(slot @ Slot::Waiting(_)), outcome) => {
                let told = Slot::Ready(outcome.clone());
                // Futures that poll only what was woken must hear of it.
                let waker = std::mem::replace(slot, told).into_waker();
                waker.into_iter().for_each(Waker::wake);
            }
            _ => {}
        }
        self.journal.push(entry);
        true
    }

    /// How long to wait for what is expected: longer than it took to give up
    /// before.
    fn patience(&self) -> Duration {
        let took = self.given_up.values().max().copied();
        took.unwrap_or_default().saturating_add(PATIENCE)
    }

    /// Lets new steps begin, if nothing is expected any more. Says whether
    /// there were any.
    fn release_held(&mut self) -> bool {
        if self.held.is_empty() || self.missing > 0 {
            return false;
        }
        self.held.drain().for_each(|(_, waker)| waker.wake());
        true
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
        if inner.missing > 0 {
            let known = inner.held.insert(self.id.into(), cx.waker().clone());
            if known.is_none() {
                inner.wake_runner();
            }
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

impl Drop for Begin<'_> {
    fn drop(&mut self) {
        self.stage.lock().held.remove(self.id);
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
        self.stage.record(self.id, self.mark, outcome);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut inner = self.stage.lock();
        inner.running -= 1;
        if !self.ended {
            // It may have had its effect, so it must not be begun again.
            let seconds = self.since.elapsed().as_secs() + 1;
            let (id, mark, outcome) = (self.id.into(), self.mark, Outcome::GivenUp(seconds));
            inner.journal.push(Entry { id, mark, outcome });
        }
        inner.wake_runner();
    }
}
