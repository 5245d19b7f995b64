//! The client: one connection to one server, with automatic reconnection.

pub(crate) mod batch;
mod builder;
pub(crate) mod call;
mod driver;
mod error;
mod handler;
mod health;
mod host;
pub(crate) mod list;
mod notification;
mod notification_channel;
mod observations;
mod observers;
mod operation;
mod page_tracker;
#[cfg(feature = "lock")]
mod pins;
mod progress;
mod prompts;
mod raw_result;
mod resources;
mod shared;
mod span;
mod state_guard;
mod stop;
mod subscription;
mod suspended_call;
mod task;
mod tool_call;
mod tools;
#[cfg(feature = "tracing")]
mod tracing_events;
mod unfold;
pub(crate) mod wait;

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use tokio::sync::watch;

pub(crate) use self::error::write_causes;
#[cfg(feature = "lock")]
pub use self::pins::Pins;
use self::shared::Shared;
pub use self::{
    builder::ClientBuilder,
    call::{Call, CallFuture},
    error::Error,
    health::Health,
    list::{FullList, List},
    notification::{Notification, Notifications},
    observations::Observation,
    operation::Operation,
    page_tracker::{ListLimits, PageTracker},
    progress::{ProgressReceiver, ProgressSender, progress_channel},
    prompts::Prompts,
    raw_result::{DecodeResult, RawResult},
    resources::Resources,
    subscription::{Change, Subscription},
    suspended_call::{SuspendedCall, ToolCallOutcome},
    task::{SavedTask, TaskHandle, TaskOrResult, TaskOutcome, Tasks},
    tool_call::{ToolCall, ToolCallFuture, ToolOutput, Typed},
    tools::Tools,
};
pub use crate::form_check::{AnswerCheck, check_answer};
pub use crate::proto::client::{
    Backoff, CallOptions, ConnectionError, ConnectionErrorKind, ConnectionState, TelemetryEvent,
    Timeouts,
};
pub use crate::proto::task::TaskInfo;
use crate::proto::{
    client::{Connection, ListSubscriptions, Request, ServerInfo, SessionNumber},
    jsonrpc::OutgoingMessage,
    model::{
        self, CompleteArgument, CompleteParams, CompleteResult, EmptyResult, LogLevel, Reference,
        Root, method,
    },
};

/// A connection to a server.
///
/// Cheap to clone; all clones share the same connection. The connection stops when the
/// last clone is dropped.
///
/// A lost connection is reopened with exponential backoff. Calls made in the meantime
/// fail immediately or wait for the connection, depending on their options.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.command(Connection::stop);
    }
}

impl Client {
    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            handle: Arc::new(Handle { shared }),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.handle.shared
    }

    /// Returns a handle to the server's tools.
    #[must_use]
    pub fn tools(&self) -> Tools<'_> {
        Tools { client: self }
    }

    /// Returns a handle to the server's resources.
    #[must_use]
    pub fn resources(&self) -> Resources<'_> {
        Resources { client: self }
    }

    /// Returns a handle to the server's prompts.
    #[must_use]
    pub fn prompts(&self) -> Prompts<'_> {
        Prompts { client: self }
    }

    /// Returns a handle to the server's tasks: calls whose result is fetched later.
    #[must_use]
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { client: self }
    }

    /// Sends any request of the protocol, with typed parameters and result.
    pub fn request<P: model::Request>(&self, params: P) -> Call<'_, P::Result> {
        let request = Request::new(params);
        Call::new(self, P::METHOD, request)
    }

    /// Sends a request with any method, including methods specific to this server. The
    /// result is returned as the server wrote it.
    ///
    /// ```
    /// # use bowline::Client;
    /// # async fn example(client: &Client) -> Result<(), bowline::Error> {
    /// let result = client.request_raw("acme/tides", &serde_json::json!({"port": "Brest"})).await?;
    /// println!("{}", result.0.get());
    /// # Ok(()) }
    /// ```
    pub fn request_raw<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &P,
    ) -> Call<'_, RawResult> {
        let request = Request::raw(method.to_owned(), params);
        Call::new(self, method.to_owned(), request)
    }

    /// Requests completions for an argument of a prompt or resource template.
    pub fn complete(
        &self,
        reference: Reference,
        argument: &str,
        value: &str,
    ) -> Call<'_, CompleteResult> {
        let argument = CompleteArgument::new(argument, value);
        self.request(CompleteParams::new(reference, argument))
    }

    /// Checks that the server responds.
    ///
    /// In revision 2026-07-28, which has no `ping`, this sends `server/discover`; the
    /// fields of its result are in [`EmptyResult::extra`].
    pub fn ping(&self) -> Call<'_, EmptyResult> {
        Call::new(self, method::PING, Ok(Request::ping()))
    }

    /// Requests log messages at `level` and above, in this session and in later ones.
    /// Fails if the server rejects the request or does not support logging.
    ///
    /// In revision 2026-07-28, nothing is sent and no server can refuse: each later request
    /// carries the level, and the server may send log messages while it works on it.
    pub fn set_log_level(&self, level: LogLevel) -> Operation<'_, ()> {
        let shared = self.shared();
        Operation::new(move |options| async move {
            let method = method::LOGGING_SET_LEVEL;
            let set = |machine: &mut Connection, now| machine.set_log_level(now, level, options);
            let call = shared.call_method(method, set);
            call::decode_outcome::<EmptyResult>(shared, method, call.await).map(drop)
        })
    }

    /// Returns the roots that were last set, by [`ClientBuilder::roots`] or
    /// [`set_roots`](Self::set_roots).
    #[must_use]
    pub fn roots(&self) -> Vec<Root> {
        self.shared().lock().machine.roots().to_vec()
    }

    /// Sends a notification. It is not sent again if it gets lost: success does not mean
    /// that the server received it.
    ///
    /// ```
    /// # use bowline::{Client, Error};
    /// # fn example(client: &Client) -> Result<(), Error> {
    /// client.notify("notifications/acme/tide", &serde_json::json!({"height": 7.1}))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if no session is open, if the notification is not valid in this
    /// session, or if its parameters do not serialize to an object.
    pub fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<(), Error> {
        let message = OutgoingMessage::new(method.to_owned(), params)
            .map_err(|error| Error::encode(method, error))?;
        let result = self.shared().command(|machine, now| {
            machine.can_notify(method)?;
            machine.notify(now, message);
            Ok(())
        });
        result.map_err(|failure| {
            let last_disconnect = self.health().last_disconnect;
            Error::failed(method, failure).with_last_disconnect(last_disconnect)
        })
    }

    /// Replaces the roots. If a session is open and its revision has that notification
    /// (2026-07-28 does not), the server is notified. Nothing is sent unless the client
    /// declared roots with [`ClientBuilder::roots`].
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) {
        let roots = roots.into_iter().collect();
        self.shared().command(|machine, now| {
            machine.set_roots(roots);
            machine.notify(
                now,
                OutgoingMessage::without_params(method::ROOTS_LIST_CHANGED),
            );
        });
    }

    /// Subscribes to the changes of all lists (tools, prompts and resources), and returns
    /// the notifications that arrive from now on. The subscription lasts as long as the
    /// client: dropping the returned [`Notifications`] does not end it.
    #[must_use]
    pub fn subscribe_to_list_changes(&self) -> Notifications {
        let lists = ListSubscriptions {
            tools: true,
            prompts: true,
            resources: true,
        };
        self.shared()
            .command(|machine, now| machine.set_list_subscriptions(now, lists));
        self.notifications()
    }

    /// Returns the notifications that arrive from now on, without subscribing to
    /// anything.
    ///
    /// In revision 2026-07-28, a server reports changes only to clients that have
    /// subscribed to them. Without a subscription, only notifications that belong to
    /// calls arrive, such as log messages. If another part of the program has
    /// subscribed, with [`subscribe_to_list_changes`](Self::subscribe_to_list_changes) or
    /// [`Resources::subscribe`], the changes arrive here too.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        Notifications::new(self.shared().host.subscribe())
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.health().state
    }

    /// Returns the health of the connection.
    #[must_use]
    pub fn health(&self) -> Health {
        self.shared().health.borrow().clone()
    }

    /// Returns a [`watch::Receiver`] with the health of the connection.
    #[must_use]
    pub fn watch_health(&self) -> watch::Receiver<Health> {
        self.shared().health.subscribe()
    }

    /// Returns what the server reported about itself in the latest session, even if that
    /// session has ended. `None` until the first session is open.
    #[must_use]
    pub fn server_info(&self) -> Option<Arc<ServerInfo>> {
        self.shared().health.borrow().server.clone()
    }

    /// Returns the open session, to bind calls to it with
    /// [`in_session`](Call::in_session). Returns `None` if no session is open, and always
    /// over HTTP in revision 2026-07-28, which has no sessions.
    #[must_use]
    pub fn session(&self) -> Option<SessionNumber> {
        self.shared().lock().machine.session()
    }

    /// Waits until the first attempt to connect has succeeded or failed. To wait for
    /// later attempts too, use [`wait_ready`](Self::wait_ready).
    ///
    /// # Errors
    ///
    /// Returns an error if the attempt failed or the connection is stopped.
    pub async fn wait_first_attempt(&self) -> Result<(), Error> {
        let mut health = self.watch_health();
        let is_done = |health: &Health| {
            health.state == ConnectionState::Ready
                || health.consecutive_failures > 0
                || health.ended
        };
        let health = health.wait_for(is_done).await;
        // The sender lives as long as this handle.
        let health = health.map(|health| health.clone()).unwrap_or_default();
        match health.state {
            ConnectionState::Ready => Ok(()),
            _ => Err(health.not_connected_error(Duration::ZERO)),
        }
    }

    /// Waits until a session is open, for at most `timeout`. Attempts to connect may fail
    /// in the meantime; to return after the first one, use
    /// [`wait_first_attempt`](Self::wait_first_attempt).
    ///
    /// # Errors
    ///
    /// Returns an error, with the reason for the last disconnect, if no session is open
    /// when the timeout expires, or as soon as the client is stopped or gives up.
    pub async fn wait_ready(&self, timeout: Duration) -> Result<(), Error> {
        let mut health = self.watch_health();
        let is_done = |health: &Health| health.state == ConnectionState::Ready || health.ended;
        // On timeout or end, the health has the reason.
        let _ = tokio::time::timeout(timeout, health.wait_for(is_done)).await;
        let health = self.health();
        match health.state {
            ConnectionState::Ready => Ok(()),
            _ => Err(health.not_connected_error(timeout)),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
