//! The client: one connection to one server, which keeps itself up.

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
mod operation;
mod page_tracker;
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
mod tools;
#[cfg(feature = "tracing")]
mod trace;
mod unfold;
pub(crate) mod wait;

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use tokio::sync::watch;

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
    tools::{CallTool, Tools},
};
pub use crate::proto::client::{
    Backoff, CallOptions, ConnectionError, ConnectionErrorKind, ConnectionState, Telemetry,
    Timeouts,
};
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
/// Cheap to clone; all clones are the same connection. When the last one is
/// dropped the connection is stopped.
///
/// A connection that falls is dialled again, with growing waits; calls made
/// meanwhile fail at once, or wait, as they were told to.
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
    /// Settings for a client.
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

    /// The server's tools.
    #[must_use]
    pub fn tools(&self) -> Tools<'_> {
        Tools { client: self }
    }

    /// The server's resources.
    #[must_use]
    pub fn resources(&self) -> Resources<'_> {
        Resources { client: self }
    }

    /// The server's prompts.
    #[must_use]
    pub fn prompts(&self) -> Prompts<'_> {
        Prompts { client: self }
    }

    /// Any request of the protocol's, typed.
    pub fn request<P: model::Request>(&self, params: P) -> Call<'_, P::Result> {
        let request = Request::new(params);
        Call::new(self, P::METHOD, request)
    }

    /// Any request at all, also one that only this server knows. The result is
    /// left as the server wrote it.
    ///
    /// ```
    /// # use bowline::Client;
    /// # async fn example(client: &Client) -> Result<(), bowline::Error> {
    /// let answer = client.raw("acme/tides", &serde_json::json!({"port": "Brest"})).await?;
    /// let high: f64 = answer.0.decode().unwrap_or_default();
    /// # let _ = high;
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

    /// Asks how an argument of a prompt or of a resource template might go on.
    pub fn complete(
        &self,
        reference: Reference,
        argument: &str,
        value: &str,
    ) -> Call<'_, CompleteResult> {
        let argument = CompleteArgument::new(argument, value);
        self.request(CompleteParams::new(reference, argument))
    }

    /// Asks whether the server is still there. On revisions that have no
    /// `ping`, this asks what the server is (`server/discover`), which every
    /// server answers; what it says is left in the result.
    pub fn ping(&self) -> Call<'_, EmptyResult> {
        Call::new(self, method::PING, Ok(Request::ping()))
    }

    /// Asks for log messages from `level` up, now and after reconnections.
    /// Fails where the server refuses or does not log.
    pub fn set_log_level(&self, level: LogLevel) -> Operation<'_, ()> {
        let shared = self.shared();
        Operation::new(move |options| async move {
            let method = method::LOGGING_SET_LEVEL;
            let set = |machine: &mut Connection, now| machine.set_log_level(now, level, options);
            let call = shared.call_method(method, set);
            call::decode_outcome::<EmptyResult>(shared, method, call.await).map(drop)
        })
    }

    /// Where the server may work: what [`ClientBuilder::roots`] said, or
    /// [`set_roots`](Self::set_roots) since.
    #[must_use]
    pub fn roots(&self) -> Vec<Root> {
        self.shared().lock().machine.roots().to_vec()
    }

    /// Sends a notification, once. That it was sent does not mean that the
    /// server has got it.
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
    /// Where no session is open, the notification has no place in it, or its
    /// parameters cannot be written as an object.
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

    /// Tells the server where it may work now. Nothing is sent where the client
    /// did not declare, with [`ClientBuilder::roots`], that it tells.
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

    /// What the server tells unasked, from now on.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        let lists = ListSubscriptions {
            tools: true,
            prompts: true,
            resources: true,
        };
        self.shared()
            .command(|machine, now| machine.set_list_subscriptions(now, lists));
        self.unsolicited_notifications()
    }

    /// What the server tells anyway, from now on, without asking it for more:
    /// on revisions in which changes are told to those who ask, log messages
    /// and what else belongs to calls.
    #[must_use]
    pub fn unsolicited_notifications(&self) -> Notifications {
        Notifications::new(self.shared().host.subscribe())
    }

    /// The state that the connection is in.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.health().state
    }

    /// How the connection is doing.
    #[must_use]
    pub fn health(&self) -> Health {
        self.shared().health.borrow().clone()
    }

    /// How the connection is doing, whenever that changes.
    #[must_use]
    pub fn watch_health(&self) -> watch::Receiver<Health> {
        self.shared().health.subscribe()
    }

    /// The server of the latest session, as it described itself.
    #[must_use]
    pub fn server(&self) -> Option<Arc<ServerInfo>> {
        self.shared().health.borrow().server.clone()
    }

    /// The session that is open, to bind calls to it with
    /// [`in_session`](Call::in_session). None where none is open, or where the
    /// server keeps nothing from one call to the next.
    #[must_use]
    pub fn session(&self) -> Option<SessionNumber> {
        self.shared().lock().machine.session()
    }

    /// Waits until a session is open.
    ///
    /// # Errors
    ///
    /// Where an attempt fails before one is, or the connection is stopped.
    pub async fn wait_connect(&self) -> Result<(), Error> {
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

    /// Waits until a session is open, through as many attempts as it takes, for
    /// `patience` at most.
    ///
    /// # Errors
    ///
    /// Where there is none by then, with the reason why the connection fell
    /// last; or where the connection is over: because it was stopped, or
    /// because it fell too often.
    pub async fn wait_ready(&self, timeout: Duration) -> Result<(), Error> {
        let mut health = self.watch_health();
        let is_done = |health: &Health| health.state == ConnectionState::Ready || health.ended;
        // Too late, or the end: the health tells.
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
