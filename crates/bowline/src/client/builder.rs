//! The builder for clients.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    Client, ListLimits, Notification, Observation,
    driver::Driver,
    error::Error,
    handler::{self, Handler},
    host::{Host, elicitation_handler, sampling_handler},
    shared::{Settings, Shared},
    task::DEFAULT_TASK_TIMEOUT,
};
use crate::{
    proto::{
        client::{
            Backoff, Config, Connection, QueueFullRetry, RestartLimit, SessionMetaPolicy, Timeouts,
        },
        jsonrpc::ErrorObject,
        model::{
            ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitParams,
            ElicitResult, ElicitationCapability, Extra, LogLevel, Root, RootsCapability,
            SamplingCapability,
        },
        revision::Revision,
    },
    transport::Transport,
};

/// The settings of a client that is not connected yet.
///
/// The handlers registered here determine the capabilities that the client declares to
/// the server.
pub struct ClientBuilder {
    config: Config,
    host: Host,
    handlers: Vec<Handler>,
    list_limits: ListLimits,
    accepts_tasks: bool,
    task_timeout: Duration,
    seed: Option<u64>,
    #[cfg(feature = "lock")]
    pins: Option<super::Pins>,
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl ClientBuilder {
    pub(crate) fn new() -> Self {
        Self {
            config: Config::new("bowline", env!("CARGO_PKG_VERSION")),
            host: Host::with_name(default_name()),
            handlers: Vec::new(),
            list_limits: ListLimits::default(),
            accepts_tasks: true,
            task_timeout: DEFAULT_TASK_TIMEOUT,
            seed: None,
            #[cfg(feature = "lock")]
            pins: None,
        }
    }

    /// Sets the name of this client in telemetry, to tell several clients of one
    /// program apart. Clients without a name are numbered: `client-1`, `client-2`.
    #[must_use]
    pub fn telemetry_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.host.name = name.into();
        self
    }

    /// Sets the name and version of the program (`clientInfo`).
    #[must_use]
    pub fn client_info(mut self, name: &str, version: &str) -> Self {
        self.config.client_info = crate::proto::model::Implementation::new(name, version);
        self
    }

    /// Handles elicitation: questions from the server to the user, as a form. The handler
    /// may be called again before it has answered an earlier question.
    #[must_use]
    pub fn on_elicit<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ElicitParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ElicitResult> + Send + 'static,
    {
        self.host.elicit = Some(elicitation_handler(handler));
        self.config
            .capabilities
            .elicitation
            .get_or_insert_with(ElicitationCapability::default);
        self
    }

    /// Allows URL elicitations as well. The handler set by
    /// [`on_elicit`](Self::on_elicit) must ask the user for consent before opening a
    /// URL.
    #[must_use]
    pub fn allow_url_elicitation(mut self) -> Self {
        let capability = &mut self.config.capabilities.elicitation;
        let capability = capability.get_or_insert_with(ElicitationCapability::default);
        capability.form = Some(Extra::new());
        capability.url = Some(Extra::new());
        self
    }

    /// Handles sampling: questions from the server to the client's model.
    ///
    /// An error rejects the request, and the tool may go on without an answer. In revision
    /// 2026-07-28 the protocol cannot express that, so an error ends the call that asked,
    /// with [`Reason::Cancelled`](crate::Reason::Cancelled).
    #[must_use]
    pub fn on_sample<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(CreateMessageParams) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.host.sample = Some(sampling_handler(handler));
        self.config
            .capabilities
            .sampling
            .get_or_insert_with(SamplingCapability::default);
        self
    }

    /// Allows the server to pass tools to the model. The handler set by
    /// [`on_sample`](Self::on_sample) must support them.
    #[must_use]
    pub fn allow_sampling_tools(self) -> Self {
        self.capabilities(|declared| {
            let sampling = declared.sampling.get_or_insert_default();
            sampling.tools = Some(Extra::new());
        })
    }

    /// Changes the declared capabilities. Use this for capabilities that have no method
    /// here: extensions and experimental ones. The client must be able to handle what it
    /// declares.
    #[must_use]
    pub fn capabilities(mut self, change: impl FnOnce(&mut ClientCapabilities)) -> Self {
        change(&mut self.config.capabilities);
        self
    }

    /// Calls a function with each notification, in order, on a separate task. A slow
    /// handler delays only other handlers. But if they fall behind by more than 1024
    /// notifications or 4 MiB, the oldest are dropped, and the handlers get
    /// [`Notification::Lost`] with their number.
    ///
    /// Also subscribes to the changes of all lists, as
    /// [`Client::subscribe_to_list_changes`](super::Client::subscribe_to_list_changes)
    /// does.
    #[must_use]
    pub fn on_notification<F, Fut>(mut self, mut handler: F) -> Self
    where
        F: FnMut(Notification) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.handlers.push(Box::new(move |notification| {
            Box::pin(handler(notification))
        }));
        self
    }

    /// Sets the roots: the places where the server may work.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.config.roots = roots.into_iter().collect();
        let mut capability = RootsCapability::default();
        capability.list_changed = Some(true);
        self.config.capabilities.roots = Some(capability);
        self
    }

    /// Sets all timeouts, including the one set by
    /// [`connect_timeout`](Self::connect_timeout).
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.config.timeouts = timeouts;
        self
    }

    /// Sets how long the server may take to start and open a session: 10 seconds by
    /// default, which is too short for servers that do a lot of work at startup.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.config.timeouts.connect = timeout;
        self
    }

    /// Sets the delays between attempts to connect: 1 s, doubled each time up to 30 s, by
    /// default.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.config.backoff = backoff;
        self
    }

    /// Gives up after this many failed attempts to connect in a row. Without a limit, the
    /// client keeps trying.
    #[must_use]
    pub fn max_connect_attempts(mut self, attempts: u32) -> Self {
        self.config.max_connect_attempts = Some(attempts);
        self
    }

    /// Gives up when sessions have been lost more than `restarts` times within
    /// `period`. This is for servers that start well and crash soon after: each open
    /// session resets the count of
    /// [`max_connect_attempts`](Self::max_connect_attempts), which therefore does not
    /// catch them. There is no such limit by default.
    #[must_use]
    pub fn max_restarts(mut self, restarts: u32, period: Duration) -> Self {
        self.config.restart_limit = Some(RestartLimit {
            max_restarts: restarts,
            period,
        });
        self
    }

    /// Sets the protocol revisions to offer. All others are rejected.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets the maximum size of a frame, which is one encoded message, in both directions:
    /// 16 MiB by default.
    #[must_use]
    pub fn max_frame_size(mut self, bytes: usize) -> Self {
        self.config.max_frame_size = bytes;
        self
    }

    /// Sets the maximum number of attempts to send a frame on a transport whose queue is
    /// full, and the delay between them: three attempts, 10 ms apart, by default.
    #[must_use]
    pub fn queue_full_retry(mut self, retry: QueueFullRetry) -> Self {
        self.config.queue_full_retry = retry;
        self
    }

    /// Sets the interval at which the records of cancelled calls are cleaned up: one
    /// minute by default.
    #[must_use]
    pub fn sweep_interval(mut self, period: Duration) -> Self {
        self.config.sweep_interval = period;
        self
    }

    /// Sets how long stopping waits for the transport to confirm that the connection is
    /// closed: 100 ms by default.
    #[must_use]
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.config.close_timeout = timeout;
        self
    }

    /// Sets whether to reject every protocol violation. If so, a violation that would
    /// otherwise be ignored ends the connection, and a list with an invalid item fails.
    /// This is meant for tests of servers. The default is `false`.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.config.strict = strict;
        self
    }

    /// Sets when requests carry the number of their session, as `dev.bowline/session-id`
    /// in `_meta`. The number increases with each session of this client, so a server
    /// that keeps state per session can reject a call that was meant for an earlier one.
    ///
    /// This is an extension by Bowline. By default, the number is sent only to servers
    /// that declare at least one tool stateful or stateless (see
    /// [`Call::mode`](super::Call::mode)). In revision 2026-07-28 it is never sent, whatever
    /// the policy.
    #[must_use]
    pub fn session_meta(mut self, policy: SessionMetaPolicy) -> Self {
        self.config.session_meta = policy;
        self
    }

    /// Limits how often a server may ask for input during a call, so that none can keep a
    /// call open forever by asking: 32 rounds by default.
    ///
    /// - In revision 2026-07-28, a round is one response in which the server asks, with any
    ///   number of questions. A call that needs more rounds fails.
    /// - In earlier revisions, a question does not name its call, so it counts as a round
    ///   for every call in progress that may ask. [`Timeouts::input`] applies to these calls
    ///   until no question is open; then their own timeout starts again from zero. Questions
    ///   beyond the limit no longer extend the timeout of the call.
    #[must_use]
    pub fn max_input_rounds(mut self, rounds: u32) -> Self {
        self.config.max_input_rounds = rounds;
        self
    }

    /// Sets the limits for paginated lists: 10,000 pages, 100,000 items and 64 MiB by
    /// default.
    #[must_use]
    pub fn list_limits(mut self, limits: ListLimits) -> Self {
        self.list_limits = limits;
        self
    }

    /// Sets whether servers may answer tool calls with tasks, whose result is fetched
    /// later: `true` by default. A call that becomes a task still ends with its result;
    /// [`ToolCall::as_task`](super::ToolCall::as_task) returns the task itself.
    ///
    /// If this is `false`, calls do not declare support for tasks, except those with
    /// [`request_task`](super::ToolCall::request_task) or
    /// [`as_task`](super::ToolCall::as_task). Servers then refuse calls of tools that are
    /// always run as tasks.
    ///
    /// In revision 2025-11-25, the tool list says which tools are run as tasks. So if the
    /// server offers tasks for tool calls, the client lists the tools before its first call
    /// in a session, and before the next call after the list has changed.
    #[must_use]
    pub fn accept_tasks(mut self, accept: bool) -> Self {
        self.accepts_tasks = accept;
        self
    }

    /// Sets how long a call waits for the task that it became: one hour by default. Then
    /// the call fails with a timeout, and the task is cancelled. See
    /// [`ToolCall::task_timeout`](super::ToolCall::task_timeout).
    #[must_use]
    pub fn task_timeout(mut self, timeout: Duration) -> Self {
        self.task_timeout = timeout;
        self
    }

    /// Requests log messages at this level and above, in every session.
    #[must_use]
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.config.log_level = Some(level);
        self
    }

    /// Sets an observer, which is called with each telemetry event in order, shortly
    /// after it happened.
    ///
    /// The observer runs on the tasks of callers and of the connection, so it must be
    /// fast and must not block. It may use the client. If it cannot keep up, events are
    /// dropped, and
    /// [`ObservationsLost`](crate::proto::client::TelemetryEvent::ObservationsLost) reports
    /// how many.
    #[must_use]
    pub fn observer(mut self, observer: impl Fn(&Observation) + Send + Sync + 'static) -> Self {
        self.host.observer = Some(Arc::new(observer));
        self
    }

    /// Refuses to call tools that differ from their reviewed definitions.
    ///
    /// Before the first call of a tool, the client lists the tools and compares them with
    /// the review. It does so again before the next call after a reconnection, after a
    /// change that the server announces, and, where there are no sessions (over HTTP in
    /// revision 2026-07-28), after 60 seconds. The list is part of the call: the options of
    /// the call, such as its timeout, cover both. A call of a tool that is new or different
    /// fails with [`Reason::NotAsReviewed`](crate::Reason::NotAsReviewed), and the call is
    /// not sent. Use [`Pins`](super::Pins) to allow some kinds of change, or to have
    /// changes reported.
    ///
    /// This protects against descriptions and schemas that change silently. It cannot
    /// know what a tool does: a server that means harm may keep its descriptions.
    ///
    /// ```
    /// # async fn example(server: impl bowline::transport::Transport)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// use bowline::{Client, lock::Lock};
    ///
    /// let mut lock = Lock::read("bowline.lock")?;
    /// let reviewed = lock.servers.remove("travel").ok_or("not reviewed")?;
    /// let client = Client::builder().pinned(reviewed).connect(server).await?;
    /// # drop(client);
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "lock")]
    #[must_use]
    pub fn pinned(mut self, pins: impl Into<super::Pins>) -> Self {
        self.pins = Some(pins.into());
        self
    }

    /// Seeds the random jitter of the backoff, for tests.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Connects and waits until the session is open. From then on the client reconnects
    /// automatically.
    ///
    /// # Errors
    ///
    /// Returns an error if the first attempt fails. Use
    /// [`connect_in_background`](Self::connect_in_background) to keep trying instead.
    pub async fn connect(self, transport: impl Transport) -> Result<Client, Error> {
        let client = self.connect_in_background(transport);
        match client.wait_first_attempt().await {
            Ok(()) => Ok(client),
            Err(error) => {
                client.stop().await;
                Err(error)
            }
        }
    }

    /// Starts connecting without waiting. The client keeps trying until it reaches a
    /// limit that was set on this builder, or is stopped.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a tokio runtime.
    pub fn connect_in_background(mut self, transport: impl Transport) -> Client {
        self.config.transport = transport.kind();
        self.config.telemetry = self.host.observer.is_some() || cfg!(feature = "tracing");
        let max_frame = self.config.max_frame_size;
        let seed = self.seed.unwrap_or_else(entropy);
        let settings = Settings {
            timeouts: self.config.timeouts.clone(),
            list_limits: self.list_limits,
            strict: self.config.strict,
            max_input_rounds: self.config.max_input_rounds,
            accepts_tasks: self.accepts_tasks,
            task_timeout: self.task_timeout,
            #[cfg(feature = "lock")]
            pins: self
                .pins
                .map(|pins| Arc::new(super::pins::PinnedTools::new(pins))),
        };
        let machine = Connection::new(self.config, seed);
        let shared = Shared::new(machine, self.host, settings);
        shared.command(Connection::start);
        let driver = Driver::new(Arc::clone(&shared), Box::new(transport), max_frame);
        tokio::spawn(driver);
        let client = Client::new(shared);
        if !self.handlers.is_empty() {
            let shared = Arc::clone(client.shared());
            let notifications = client.subscribe_to_list_changes();
            tokio::spawn(handler::run(shared, notifications, self.handlers));
        }
        client
    }
}

/// Returns a name that no other client of the process has by default.
fn default_name() -> Arc<str> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    format!("client-{number}").into()
}

/// Returns a number that differs between processes and between calls, which is all that
/// jitter needs.
fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
