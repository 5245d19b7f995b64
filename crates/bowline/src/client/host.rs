//! What the host offers the server, and how it is kept informed.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    sync::broadcast,
    task::{AbortHandle, JoinSet},
};

use super::{
    Observation,
    news::{Kept, News},
    notification::Notification,
    shared::Shared,
    subscription::Held,
};
use crate::{
    proto::{
        client::{CallId, Event, PeerRequest, Telemetry},
        jsonrpc::{ErrorObject, RawJson, code, decode_params},
        model::{
            CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, InputKind,
            InputRequest, InputRequiredResult, InputResponses, method,
        },
    },
    transport::BoxFuture,
};

/// Answers questions of one kind. The host's code runs when the future does, and
/// not before: this is called under the lock.
///
/// It reads the question itself, so that a program whose clients answer none is
/// not linked with what reads and writes them.
pub(crate) type Answerer = Arc<dyn Fn(Asked) -> Answer + Send + Sync>;
/// The answer to a question of the server's.
type Answer = BoxFuture<'static, Result<RawJson, ErrorObject>>;
/// A question of the server's, as it came.
pub(crate) enum Asked {
    /// In a request: its parameters.
    Params(Option<Bytes>),
    /// In a result that takes another round.
    Input(InputKind),
}

/// Sees what happens inside.
pub(crate) type Observer = Arc<dyn Fn(&Observation) + Send + Sync>;

/// The host's side of a connection.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) elicit: Option<Answerer>,
    pub(crate) sample: Option<Answerer>,
    pub(crate) observer: Option<Observer>,
    /// What the client is called in telemetry.
    pub(crate) name: Arc<str>,
    listeners: Mutex<Listeners>,
    running: Mutex<HashMap<Task, AbortHandle>>,
    holds: Mutex<HashMap<Box<str>, Held>>,
}

/// Who hears of notifications.
#[derive(Default)]
enum Listeners {
    /// Nobody so far. What is kept for slow ones takes 80 KB, which those who
    /// never listen need not have.
    #[default]
    Nobody,
    Some(News),
    /// The connection is over. The sender is gone, so that they see the end.
    Ended,
}

/// Work that the server is waiting for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    Request(PeerRequest),
    Input(CallId),
}

impl Host {
    /// One that offers nothing, of a client with this name.
    pub(crate) fn named(name: Arc<str>) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Something that this client has just seen.
    pub(crate) fn observation(&self, telemetry: Telemetry) -> Observation {
        Observation {
            client: Arc::clone(&self.name),
            at: SystemTime::now(),
            telemetry,
        }
    }

    /// Whether anybody looks on.
    pub(crate) fn has_observers(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::trace::is_heard() {
            return true;
        }
        self.observer.is_some()
    }

    /// Shows something to those who look on. It is their code, called amid
    /// ours: a panic must not get out and leave callers behind who wait for
    /// ever. Nothing may be locked.
    pub(super) fn observe(&self, seen: &Observation) {
        #[cfg(feature = "tracing")]
        let _ = catch_unwind(AssertUnwindSafe(|| super::trace::emit(seen)));
        if let Some(observer) = &self.observer {
            let _ = catch_unwind(AssertUnwindSafe(|| observer(seen)));
        }
    }

    /// Hears of notifications from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<Kept>> {
        let mut listeners = self.listeners();
        match &*listeners {
            Listeners::Some(news) => news.subscribe(),
            Listeners::Ended => broadcast::channel(1).1,
            Listeners::Nobody => {
                let (news, receiver) = News::new();
                *listeners = Listeners::Some(news);
                receiver
            }
        }
    }

    /// The resources that are subscribed to, and by how many.
    pub(super) fn holds(&self) -> MutexGuard<'_, HashMap<Box<str>, Held>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There will be no more notifications.
    pub(crate) fn end(&self) {
        *self.listeners() = Listeners::Ended;
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn event(&self, shared: &Arc<Shared>, event: Event) {
        match event {
            Event::Notification { method, params } => {
                let size = method.len() + params.as_ref().map_or(0, Bytes::len);
                self.tell(Notification::route(&method, params), size);
            }
            Event::Resubscribed { uris } => {
                let size = uris.iter().map(|uri| uri.len()).sum();
                self.tell(Notification::Resubscribed { uris }, size);
            }
            Event::SubscriptionLost { uri, .. } => {
                let size = uri.len();
                self.tell(Notification::SubscriptionLost { uri }, size);
            }
            Event::Request {
                request,
                method,
                params,
            } => {
                let answer = contained(self.answer(&method, Asked::Params(params)));
                let shared_then = Arc::clone(shared);
                self.run(Task::Request(request), async move {
                    let answer = answer.await;
                    shared_then.command(|machine, now| machine.respond(now, request, answer));
                    shared_then.host.done(Task::Request(request));
                });
            }
            Event::InputRequired {
                call, questions, ..
            } => {
                let answers = self.answer_all(*questions);
                let shared_then = Arc::clone(shared);
                self.run(Task::Input(call), async move {
                    let answers = answers.await;
                    shared_then.command(|machine, now| machine.provide_input(now, call, answers));
                    shared_then.host.done(Task::Input(call));
                });
            }
            Event::RequestWithdrawn { request } => self.give_up(Task::Request(request)),
            Event::InputWithdrawn { call } => self.give_up(Task::Input(call)),
            _ => {}
        }
    }

    fn tell(&self, notification: Notification, size: usize) {
        if let Listeners::Some(news) = &mut *self.listeners() {
            news.tell(notification, size);
        }
    }

    fn run(&self, task: Task, work: impl Future<Output = ()> + Send + 'static) {
        // The table is locked while the task is started, so that it cannot be
        // done before it is entered.
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = tokio::spawn(work).abort_handle();
        running.insert(task, handle);
    }

    fn done(&self, task: Task) {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&task);
    }

    fn give_up(&self, task: Task) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&task);
        if let Some(handle) = running {
            handle.abort();
        }
    }

    /// The answer to one question of the server's.
    fn answer(&self, name: &str, asked: Asked) -> Answer {
        let answerer = match name {
            method::ELICITATION_CREATE => self.elicit.as_ref(),
            method::SAMPLING_CREATE_MESSAGE => self.sample.as_ref(),
            _ => None,
        };
        match answerer {
            Some(answerer) => answerer(asked),
            None => refused(name),
        }
    }

    /// The answers to all questions of a round; `None` if one is refused in a
    /// way that the protocol has no words for.
    fn answer_all(
        &self,
        questions: InputRequiredResult,
    ) -> BoxFuture<'static, Option<InputResponses>> {
        let requests = questions.input_requests.unwrap_or_default();
        let answers: Vec<_> = requests
            .into_iter()
            .map(|(key, question)| (key, self.answer_question(question)))
            .collect();
        Box::pin(async move {
            // Asked together; dropping the set gives up those still open.
            let mut asking = JoinSet::new();
            for (key, answer) in answers {
                asking.spawn(async move { (key, answer.await) });
            }
            let mut responses = InputResponses::default();
            while let Some(answered) = asking.join_next().await {
                let (key, answer) = answered.ok()?;
                responses.insert(key, answer.ok()?);
            }
            Some(responses)
        })
    }

    fn answer_question(&self, question: InputRequest) -> Answer {
        let name = question.method().to_owned();
        self.answer(&name, Asked::Input(question.kind))
    }
}

/// Answers the server's wish to ask the user something.
pub(crate) fn by_user<F, Fut>(handler: F) -> Answerer
where
    F: Fn(ElicitParams) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ElicitResult> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |asked| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let params = match asked {
                Asked::Input(InputKind::Elicit(params)) => *params,
                asked => asked.read()?,
            };
            encode(&handler(params).await)
        })
    })
}

/// Answers the server's wish to ask a model something; an error refuses.
pub(crate) fn by_model<F, Fut>(handler: F) -> Answerer
where
    F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |asked| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let params = match asked {
                Asked::Input(InputKind::CreateMessage(params)) => *params,
                asked => asked.read()?,
            };
            encode(&handler(params).await?)
        })
    })
}

impl Asked {
    /// The parameters of a request; those of others have their types already.
    fn read<T: DeserializeOwned>(self) -> Result<T, ErrorObject> {
        let params = match self {
            Self::Params(params) => params,
            Self::Input(_) => None,
        };
        decode_params(params.as_deref())
            .map_err(|error| ErrorObject::new(code::INVALID_PARAMS, error.to_string()))
    }
}

fn encode<T: Serialize>(answer: &T) -> Result<RawJson, ErrorObject> {
    RawJson::encode(answer)
        .map_err(|error| ErrorObject::new(code::INTERNAL_ERROR, error.to_string()))
}

/// Runs the host's code as a task of its own, so that a panic ends only that.
/// Dropping this gives the task up.
async fn contained(answer: Answer) -> Result<RawJson, ErrorObject> {
    let mut task = JoinSet::new();
    task.spawn(answer);
    match task.join_next().await {
        Some(Ok(answer)) => answer,
        _ => {
            let message = "this client failed to answer";
            Err(ErrorObject::new(code::INTERNAL_ERROR, message))
        }
    }
}

fn refused(name: &str) -> Answer {
    let message = format!("this client does not offer {name}");
    let error = ErrorObject::new(code::METHOD_NOT_FOUND, message);
    Box::pin(std::future::ready(Err(error)))
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
