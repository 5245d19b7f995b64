//! The prepared answers of a test.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::sync::Notify;

use super::{ModelAnswer, ServerQuestion, TestError, UserAnswer};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, code},
        model::{
            CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, InputKind,
            InputRequest, ListRootsResult, Root,
        },
    },
    sync,
};

/// Computes the answers that are not queued.
type Compute<Q, A> = Arc<dyn Fn(&Q) -> A + Send + Sync>;

/// The answers, and the first error in using them.
#[derive(Default)]
pub(super) struct AnswerQueues {
    inner: Mutex<Inner>,
    failed: Notify,
}

#[derive(Default)]
struct Inner {
    elicit: AnswerQueue<ElicitParams, UserAnswer>,
    sample: AnswerQueue<CreateMessageParams, ModelAnswer>,
    error: Option<TestError>,
}

/// Answers of one kind.
struct AnswerQueue<Q, A> {
    ready: VecDeque<A>,
    compute: Option<Compute<Q, A>>,
}

/// Adding answers.
impl AnswerQueues {
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

    /// Removes the queued answers and the error.
    pub(super) fn clear(&self) {
        let mut inner = self.lock();
        inner.elicit.ready.clear();
        inner.sample.ready.clear();
        inner.error = None;
    }

    /// Checks that all queued answers were used.
    pub(super) fn check_all_used(&self) -> Result<(), TestError> {
        let mut inner = self.lock();
        if let Some(error) = inner.error.take() {
            return Err(error);
        }
        let (elicit, sample) = (inner.elicit.ready.len(), inner.sample.ready.len());
        if elicit + sample == 0 {
            return Ok(());
        }
        Err(TestError::UnusedAnswers { elicit, sample })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code that holds the lock can panic halfway.
        sync::lock(&self.inner)
    }
}

/// Answering.
impl AnswerQueues {
    /// Returns the user's answer.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no answer or it is invalid.
    pub(super) fn elicit(&self, question: &ElicitParams) -> Result<ElicitResult, TestError> {
        let server_question = || ServerQuestion::new(question.clone().into());
        let next = self.lock().elicit.next_answer();
        let answer = next.resolve(question, server_question)?;
        answer
            .to_result(question)
            .map_err(|reason| TestError::InvalidAnswer {
                question: server_question(),
                reason,
            })
    }

    /// Returns the model's answer, or its refusal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no answer.
    pub(super) fn sample(
        &self,
        question: &CreateMessageParams,
    ) -> Result<Result<CreateMessageResult, ErrorObject>, TestError> {
        let server_question = || ServerQuestion::new(question.clone().into());
        let next = self.lock().sample.next_answer();
        let answer = next.resolve(question, server_question)?;
        Ok(answer.to_result(question))
    }

    /// Returns the answer to any question, as it is sent.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no answer or it is invalid.
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
                return Err(TestError::Unanswered(ServerQuestion::new(question.clone())));
            }
        })
    }

    /// Records an error. The call that it belongs to is cancelled, so nothing
    /// continues with an answer that the test did not give.
    pub(super) async fn fail<T>(&self, error: TestError) -> T {
        self.lock().error.get_or_insert(error);
        self.failed.notify_one();
        std::future::pending().await
    }

    /// Waits for an error.
    pub(super) async fn wait_error(&self) -> TestError {
        loop {
            let notified = self.failed.notified();
            if let Some(error) = self.lock().error.take() {
                return error;
            }
            notified.await;
        }
    }
}

/// The source of an answer.
enum NextAnswer<Q, A> {
    Ready(A),
    Compute(Compute<Q, A>),
    Missing,
}

impl<Q, A> AnswerQueue<Q, A> {
    fn next_answer(&mut self) -> NextAnswer<Q, A> {
        match (self.ready.pop_front(), &self.compute) {
            (Some(answer), _) => NextAnswer::Ready(answer),
            (None, Some(compute)) => NextAnswer::Compute(Arc::clone(compute)),
            (None, None) => NextAnswer::Missing,
        }
    }
}

impl<Q, A> NextAnswer<Q, A> {
    fn resolve(
        self,
        question: &Q,
        server_question: impl FnOnce() -> ServerQuestion,
    ) -> Result<A, TestError> {
        match self {
            Self::Ready(answer) => Ok(answer),
            Self::Missing => Err(TestError::Unanswered(server_question())),
            // It may panic in an assertion, on a task where that would go
            // unnoticed.
            Self::Compute(compute) => {
                catch_unwind(AssertUnwindSafe(|| compute(question))).map_err(|panic| {
                    TestError::Panicked {
                        question: server_question(),
                        reason: panic_message(&*panic),
                    }
                })
            }
        }
    }
}

impl<Q, A> Default for AnswerQueue<Q, A> {
    fn default() -> Self {
        Self {
            ready: VecDeque::new(),
            compute: None,
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    message.unwrap_or("the panic has no message").to_owned()
}

fn encode<T: serde::Serialize>(answer: &T) -> Result<RawJson, ErrorObject> {
    RawJson::encode(answer)
        .map_err(|error| ErrorObject::new(code::INTERNAL_ERROR, error.to_string()))
}
