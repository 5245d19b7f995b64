//! The host's handlers for questions and notifications from the server.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    sync::broadcast,
    task::{AbortHandle, JoinSet},
};

use super::{
    notification::Notification,
    notification_channel::{BufferedNotification, NotificationSender},
    observers::Observer,
    shared::Shared,
    subscription::SubscriberCount,
    task::TaskChanges,
};
use crate::{
    catch_panic::CatchPanic,
    proto::{
        client::{CallId, Event, PeerRequestId},
        jsonrpc::{ErrorObject, RawJson, code, decode_params},
        model::{
            CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, InputKind,
            InputRequest, InputRequests, InputResponses, method,
        },
    },
    sync,
    transport::BoxFuture,
};

/// Answers questions of one kind. The handler is called under the lock, so the host's
/// code must only run when the future is polled.
///
/// It decodes the question itself so that programs without handlers do not link the
/// code that reads and writes them.
pub(crate) type InputHandler = Arc<dyn Fn(HostRequest) -> ResponseFuture + Send + Sync>;
/// The response to a question from the server.
type ResponseFuture = BoxFuture<'static, Result<RawJson, ErrorObject>>;
/// A question from the server, undecoded.
pub(crate) enum HostRequest {
    /// Received as a request: its parameters.
    Params(Option<Bytes>),
    /// Received in a result that requires another round.
    Input(InputKind),
}

/// The host's side of a connection.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) elicit: Option<InputHandler>,
    pub(crate) sample: Option<InputHandler>,
    pub(crate) observer: Option<Observer>,
    /// The name of the client in telemetry.
    pub(crate) name: Arc<str>,
    subscribers: Mutex<Subscribers>,
    running: Mutex<HashMap<HostTask, AbortHandle>>,
    subscriptions: Mutex<HashMap<Box<str>, SubscriberCount>>,
    pub(super) task_changes: TaskChanges,
}

/// The receivers of notifications.
#[derive(Default)]
enum Subscribers {
    /// No receivers so far. The buffer takes 80 KB, which clients that never receive
    /// notifications should not pay for.
    #[default]
    Inactive,
    Active(NotificationSender),
    /// The connection has ended. The sender was dropped so that receivers see the end.
    Ended,
}

/// A task whose response the server is waiting for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum HostTask {
    Request(PeerRequestId),
    Input(CallId),
}

impl Host {
    /// Creates a host without handlers for a client with this name.
    pub(crate) fn with_name(name: Arc<str>) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Subscribes to notifications from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<BufferedNotification>> {
        let mut subscribers = self.subscribers();
        match &*subscribers {
            Subscribers::Active(sender) => sender.subscribe(),
            Subscribers::Ended => broadcast::channel(1).1,
            Subscribers::Inactive => {
                let (sender, receiver) = NotificationSender::new();
                *subscribers = Subscribers::Active(sender);
                receiver
            }
        }
    }

    /// Returns the subscribed resources and their subscriber counts.
    pub(super) fn subscriptions(&self) -> MutexGuard<'_, HashMap<Box<str>, SubscriberCount>> {
        sync::lock(&self.subscriptions)
    }

    /// Ends all notification streams.
    pub(crate) fn end_notifications(&self) {
        *self.subscribers() = Subscribers::Ended;
    }

    fn subscribers(&self) -> MutexGuard<'_, Subscribers> {
        sync::lock(&self.subscribers)
    }

    pub(crate) fn handle_event(&self, shared: &Arc<Shared>, event: Event) {
        match event {
            Event::Notification { method, params } => {
                self.task_changes.notified(&method, params.as_deref());
                let size = method.len() + params.as_ref().map_or(0, Bytes::len);
                self.send_notification(Notification::parse(&method, params), size);
            }
            Event::Resubscribed { uris } => {
                let size = uris.iter().map(|uri| uri.len()).sum();
                self.send_notification(Notification::Resubscribed { uris }, size);
            }
            Event::SubscriptionLost { uri, .. } => {
                let size = uri.len();
                self.send_notification(Notification::SubscriptionLost { uri }, size);
            }
            Event::Request {
                request,
                method,
                params,
            } => {
                let answer = CatchPanic(self.handle_request(&method, HostRequest::Params(params)));
                let task_shared = Arc::clone(shared);
                self.spawn_task(HostTask::Request(request), async move {
                    let answer = answer.await.unwrap_or_else(|_| Err(panic_error()));
                    task_shared.command(|machine, now| machine.respond(now, request, answer));
                    task_shared.host.task_finished(HostTask::Request(request));
                });
            }
            Event::InputRequired {
                call, questions, ..
            } => {
                let answers = self.handle_inputs(questions.input_requests.unwrap_or_default());
                let task_shared = Arc::clone(shared);
                self.spawn_task(HostTask::Input(call), async move {
                    let answers = answers.await;
                    task_shared.command(|machine, now| machine.provide_input(now, call, answers));
                    task_shared.host.task_finished(HostTask::Input(call));
                });
            }
            Event::RequestWithdrawn { request } => self.abort_task(HostTask::Request(request)),
            Event::InputWithdrawn { call } => self.abort_task(HostTask::Input(call)),
            _ => {}
        }
    }

    fn send_notification(&self, notification: Notification, size: usize) {
        if let Subscribers::Active(sender) = &mut *self.subscribers() {
            sender.send(notification, size);
        }
    }

    fn spawn_task(&self, task: HostTask, work: impl Future<Output = ()> + Send + 'static) {
        // The table stays locked while the task is spawned so that the task cannot
        // finish before it is in the table.
        let mut running = sync::lock(&self.running);
        let handle = tokio::spawn(work).abort_handle();
        running.insert(task, handle);
    }

    fn task_finished(&self, task: HostTask) {
        sync::lock(&self.running).remove(&task);
    }

    fn abort_task(&self, task: HostTask) {
        let running = sync::lock(&self.running).remove(&task);
        if let Some(handle) = running {
            handle.abort();
        }
    }

    /// Answers one question from the server.
    fn handle_request(&self, name: &str, request: HostRequest) -> ResponseFuture {
        let handler = match name {
            method::ELICITATION_CREATE => self.elicit.as_ref(),
            method::SAMPLING_CREATE_MESSAGE => self.sample.as_ref(),
            _ => None,
        };
        match handler {
            Some(handler) => handler(request),
            None => method_not_found(name),
        }
    }

    /// Answers all questions of a round. `None` if one fails in a way that the protocol
    /// cannot express.
    pub(super) fn handle_inputs(
        &self,
        requests: InputRequests,
    ) -> BoxFuture<'static, Option<InputResponses>> {
        let answers: Vec<_> = requests
            .into_iter()
            .map(|(key, question)| (key, self.handle_input(question)))
            .collect();
        Box::pin(async move {
            // The questions are asked concurrently; dropping the set cancels those
            // still open.
            let mut tasks = JoinSet::new();
            for (key, answer) in answers {
                tasks.spawn(async move { (key, answer.await) });
            }
            let mut responses = InputResponses::default();
            while let Some(joined) = tasks.join_next().await {
                let (key, answer) = joined.ok()?;
                responses.insert(key, answer.ok()?);
            }
            Some(responses)
        })
    }

    fn handle_input(&self, question: InputRequest) -> ResponseFuture {
        let name = question.method().to_owned();
        self.handle_request(&name, HostRequest::Input(question.kind))
    }
}

/// Wraps a function that answers elicitations.
pub(crate) fn elicitation_handler<F, Fut>(handler: F) -> InputHandler
where
    F: Fn(ElicitParams) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ElicitResult> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |request| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let params = match request {
                HostRequest::Input(InputKind::Elicit(params)) => *params,
                request => request.decode()?,
            };
            encode(&handler(params).await)
        })
    })
}

/// Wraps a function that answers sampling requests. An error rejects the request.
pub(crate) fn sampling_handler<F, Fut>(handler: F) -> InputHandler
where
    F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |request| {
        let handler = Arc::clone(&handler);
        Box::pin(async move {
            let params = match request {
                HostRequest::Input(InputKind::CreateMessage(params)) => *params,
                request => request.decode()?,
            };
            encode(&handler(params).await?)
        })
    })
}

impl HostRequest {
    /// Decodes the parameters of a request. Those of other variants are already typed.
    fn decode<T: DeserializeOwned>(self) -> Result<T, ErrorObject> {
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

/// The response to a request whose handler panicked.
fn panic_error() -> ErrorObject {
    let message = "the client failed to handle the request";
    ErrorObject::new(code::INTERNAL_ERROR, message)
}

fn method_not_found(name: &str) -> ResponseFuture {
    let message = format!("this client does not offer {name}");
    let error = ErrorObject::new(code::METHOD_NOT_FOUND, message);
    Box::pin(std::future::ready(Err(error)))
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}
