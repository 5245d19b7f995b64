//! The answers that a test has ready.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::{ModelAnswer, Question, TestError, UserAnswer};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson, code},
    model::{
        CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, InputKind,
        InputRequest, ListRootsResult, Root,
    },
};

/// Computes the answers that are not queued.
type Compute<Q, A> = Arc<dyn Fn(&Q) -> A + Send + Sync>;

/// The answers, and the first mistake that was made with them.
#[derive(Default)]
pub(super) struct Script {
    inner: Mutex<Inner>,
    faulted: Notify,
}

#[derive(Default)]
struct Inner {
    elicit: Queue<ElicitParams, UserAnswer>,
    sample: Queue<CreateMessageParams, ModelAnswer>,
    fault: Option<TestError>,
}

/// Answers of one kind.
struct Queue<Q, A> {
    ready: VecDeque<A>,
    compute: Option<Compute<Q, A>>,
}

/// Filling it.
impl Script {
    pub(super) fn queue_elicit(&self, answer: UserAnswer) {
        self.lock().elicit.ready.push_back(answer);
    }

    pub(super) fn queue_sample(&self, answer: ModelAnswer) {
        self.lock().sample.ready.push_back(answer);
    }

    pub(super) fn compute_elicit(&self, compute: Compute<ElicitParams, UserAnswer>) {
        self.lock().elicit.compute = Some(compute);
    }

    pub(super) fn compute_sample(&self, compute: Compute<CreateMessageParams, ModelAnswer>) {
        self.lock().sample.compute = Some(compute);
    }

    /// Forgets what is queued, and the mistake.
    pub(super) fn clear(&self) {
        let mut inner = self.lock();
        inner.elicit.ready.clear();
        inner.sample.ready.clear();
        inner.fault = None;
    }

    /// Whether everything was asked for.
    pub(super) fn check_done(&self) -> Result<(), TestError> {
        let mut inner = self.lock();
        if let Some(fault) = inner.fault.take() {
            return Err(fault);
        }
        let (elicit, sample) = (inner.elicit.ready.len(), inner.sample.ready.len());
        if elicit + sample == 0 {
            return Ok(());
        }
        Err(TestError::LeftOver { elicit, sample })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that holds the lock can panic halfway.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answering.
impl Script {
    /// What the user answers.
    ///
    /// # Errors
    ///
    /// Where there is no answer, or a wrong one.
    pub(super) fn elicit(&self, question: &ElicitParams) -> Result<ElicitResult, TestError> {
        let asked = || Question::new(question.clone().into());
        let turn = self.lock().elicit.turn();
        let answer = turn.take(question, asked)?;
        answer
            .to_question(question)
            .map_err(|why| TestError::WrongAnswer {
                question: asked(),
                why,
            })
    }

    /// What the model answers, or how it refuses.
    ///
    /// # Errors
    ///
    /// Where there is no answer.
    pub(super) fn sample(
        &self,
        question: &CreateMessageParams,
    ) -> Result<Result<CreateMessageResult, ErrorObject>, TestError> {
        let asked = || Question::new(question.clone().into());
        let turn = self.lock().sample.turn();
        let answer = turn.take(question, asked)?;
        Ok(answer.to_question(question))
    }

    /// The answer to any question, as it travels.
    ///
    /// # Errors
    ///
    /// Where there is none, or a wrong one.
    pub(super) fn answer(
        &self,
        question: &InputRequest,
        roots: &[Root],
    ) -> Result<Result<RawJson, ErrorObject>, TestError> {
        Ok(match &question.kind {
            InputKind::Elicit(params) => encode(&self.elicit(params)?),
            InputKind::CreateMessage(params) => match self.sample(params)? {
                Ok(answer) => encode(&answer),
                Err(error) => Err(error),
            },
            InputKind::ListRoots(_) => encode(&ListRootsResult::new(roots.to_vec())),
            _ => {
                return Err(TestError::Unanswered(Question::new(question.clone())));
            }
        })
    }

    /// Takes note of a mistake. The call that it belongs to is given up, so
    /// that nobody goes on with an answer that the test did not give.
    pub(super) async fn fail<T>(&self, fault: TestError) -> T {
        self.lock().fault.get_or_insert(fault);
        self.faulted.notify_one();
        std::future::pending().await
    }

    /// Waits for a mistake.
    pub(super) async fn fault(&self) -> TestError {
        loop {
            let faulted = self.faulted.notified();
            if let Some(fault) = self.lock().fault.take() {
                return fault;
            }
            faulted.await;
        }
    }
}

/// Where one answer comes from.
enum Turn<Q, A> {
    Ready(A),
    Compute(Compute<Q, A>),
    Nothing,
}

impl<Q, A> Queue<Q, A> {
    fn turn(&mut self) -> Turn<Q, A> {
        match (self.ready.pop_front(), &self.compute) {
            (Some(answer), _) => Turn::Ready(answer),
            (None, Some(compute)) => Turn::Compute(Arc::clone(compute)),
            (None, None) => Turn::Nothing,
        }
    }
}

impl<Q, A> Turn<Q, A> {
    fn take(self, question: &Q, asked: impl FnOnce() -> Question) -> Result<A, TestError> {
        match self {
            Self::Ready(answer) => Ok(answer),
            Self::Nothing => Err(TestError::Unanswered(asked())),
            // It may assert something, on a task where nobody would notice.
            Self::Compute(compute) => {
                catch_unwind(AssertUnwindSafe(|| compute(question))).map_err(|panic| {
                    TestError::Panicked {
                        question: asked(),
                        why: words(&*panic),
                    }
                })
            }
        }
    }
}

impl<Q, A> Default for Queue<Q, A> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            compute: None,
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it did not say why").to_owned()
}

fn encode<T: serde::Serialize>(answer: &T) -> Result<RawJson, ErrorObject> {
    RawJson::encode(answer)
        .map_err(|error| ErrorObject::new(code::INTERNAL_ERROR, error.to_string()))
}
