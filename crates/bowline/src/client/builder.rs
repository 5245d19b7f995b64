//! Setting a client up.

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
};
use crate::{
    proto::{
        client::{
            Backoff, BusyRetry, Config, Connection, RestartLimit, SessionMetaPolicy, Timeouts,
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
/// What is registered here is what the server is told that the client can do.
pub struct ClientBuilder {
    config: Config,
    host: Host,
    handlers: Vec<Handler>,
    list_limits: ListLimits,
    seed: Option<u64>,
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
            seed: None,
        }
    }

    /// Names this client, in telemetry: where a program has several, this tells
    /// them apart. Without a name they are counted: `client-1`, `client-2`.
    #[must_use]
    pub fn telemetry_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.host.name = name.into();
        self
    }

    /// Says what the program is called, and its version.
    #[must_use]
    pub fn client_info(mut self, name: &str, version: &str) -> Self {
        self.config.client_info = crate::proto::model::Implementation::new(name, version);
        self
    }

    /// Answers the server's questions to the user, by form. Several may be
    /// open at once.
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

    /// Lets the server send the user to a URL as well: the handler of
    /// [`on_elicit`](Self::on_elicit) must ask for consent first.
    #[must_use]
    pub fn allow_url_elicitation(mut self) -> Self {
        let capability = &mut self.config.capabilities.elicitation;
        let capability = capability.get_or_insert_with(ElicitationCapability::default);
        capability.form = Some(Extra::new());
        capability.url = Some(Extra::new());
        self
    }

    /// Answers the server's questions to a model. An error refuses.
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

    /// Lets the server give tools to the model: the handler of
    /// [`on_sample`](Self::on_sample) must know what to do with them.
    #[must_use]
    pub fn allow_sampling_tools(self) -> Self {
        self.capabilities(|declared| {
            let sampling = declared.sampling.get_or_insert_default();
            sampling.tools = Some(Extra::new());
        })
    }

    /// Changes what the client says that it can do, for what has no method
    /// here: extensions, and what is experimental. What is declared must be
    /// answered.
    #[must_use]
    pub fn capabilities(mut self, change: impl FnOnce(&mut ClientCapabilities)) -> Self {
        change(&mut self.config.capabilities);
        self
    }

    /// Calls a function with each notification, in order, on a task of its own.
    /// One that is slow delays other handlers, and nothing else.
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

    /// Tells the server where it may work.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.config.roots = roots.into_iter().collect();
        let mut capability = RootsCapability::default();
        capability.list_changed = Some(true);
        self.config.capabilities.roots = Some(capability);
        self
    }

    /// Sets how long each thing may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.config.timeouts = timeouts;
        self
    }

    /// Sets how long the server may take to start and open a session. Servers
    /// that prepare something first need more than the 10 seconds of the
    /// default.
    #[must_use]
    pub fn opening_timeout(mut self, timeout: Duration) -> Self {
        self.config.timeouts.opening = timeout;
        self
    }

    /// Sets the waits between attempts to connect.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.config.backoff = backoff;
        self
    }

    /// Gives up after so many failed attempts in a row.
    #[must_use]
    pub fn max_connect_attempts(mut self, attempts: u32) -> Self {
        self.config.max_connect_attempts = Some(attempts);
        self
    }

    /// Gives up when sessions have fallen more than `restarts` times within
    /// `period`: for servers that start well and die soon after, again and
    /// again. Each session that opens starts the count of
    /// [`max_attempts`](Self::max_attempts) anew, so that does not help there.
    /// There is no such limit by default.
    #[must_use]
    pub fn max_restarts(mut self, restarts: u32, period: Duration) -> Self {
        self.config.restart_limit = Some(RestartLimit {
            max_restarts: restarts,
            period,
        });
        self
    }

    /// Speaks these revisions of the protocol only.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets the largest frame, in either direction.
    #[must_use]
    pub fn max_frame_size(mut self, bytes: usize) -> Self {
        self.config.max_frame_size = bytes;
        self
    }

    /// Sets how often a frame is offered to a transport whose queue is full,
    /// and the wait between.
    #[must_use]
    pub fn busy_retry(mut self, retry: BusyRetry) -> Self {
        self.config.busy_retry = retry;
        self
    }

    /// Sets how often it is cleaned up what is remembered of calls that were
    /// given up: every minute, unless set.
    #[must_use]
    pub fn sweep_interval(mut self, period: Duration) -> Self {
        self.config.sweep_interval = period;
        self
    }

    /// Sets how long the end waits for the link to confirm it: 100 ms, unless
    /// set.
    #[must_use]
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.config.close_timeout = timeout;
        self
    }

    /// Tolerates no violation of the protocol: one that could be passed over
    /// ends the connection, and an item that has not the shape of one fails its
    /// list. For tests of servers.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.config.strict = strict;
        self
    }

    /// Sets when calls carry the number of our session in their `_meta`.
    #[must_use]
    pub fn session_meta(mut self, policy: SessionMetaPolicy) -> Self {
        self.config.session_meta = policy;
        self
    }

    /// Sets how often the server may ask for input in one call: 32 times,
    /// unless set.
    #[must_use]
    pub fn max_input_rounds(mut self, rounds: u32) -> Self {
        self.config.max_input_rounds = rounds;
        self
    }

    /// Sets how far lists are followed that come in pages.
    #[must_use]
    pub fn list_limits(mut self, limits: ListLimits) -> Self {
        self.list_limits = limits;
        self
    }

    /// Asks for log messages from this level up, in every session.
    #[must_use]
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.config.log_level = Some(level);
        self
    }

    /// Sees what happens inside, in order, shortly after it happened.
    ///
    /// It is called on tasks of callers and of the connection, so it must be
    /// quick and must not wait. It may use the client. Where it is slower than
    /// what happens, some of that is left out, and
    /// [`ObservationsLost`](crate::proto::client::Telemetry::ObservationsLost)
    /// says how much.
    #[must_use]
    pub fn observer(mut self, observer: impl Fn(&Observation) + Send + Sync + 'static) -> Self {
        self.host.observer = Some(Arc::new(observer));
        self
    }

    /// Fixes the randomness of backoff and jitter, for tests.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Connects, and waits for the session to be open. From then on the
    /// connection keeps itself up.
    ///
    /// # Errors
    ///
    /// Where the first attempt fails. [`connect_in_background`](Self::connect_in_background)
    /// goes on trying instead.
    pub async fn connect(self, transport: impl Transport) -> Result<Client, Error> {
        let client = self.connect_in_background(transport);
        match client.wait_connect().await {
            Ok(()) => Ok(client),
            Err(error) => {
                client.stop().await;
                Err(error)
            }
        }
    }

    /// Starts connecting and does not wait. The connection goes on trying for
    /// as long as it takes.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn connect_in_background(mut self, transport: impl Transport) -> Client {
        self.config.transport = transport.kind();
        self.config.telemetry = self.host.observer.is_some() || cfg!(feature = "tracing");
        let max_frame = self.config.max_frame_size;
        let seed = self.seed.unwrap_or_else(entropy);
        let settings = Settings {
            timeouts: self.config.timeouts.clone(),
            list_limits: self.list_limits,
            strict: self.config.strict,
        };
        let machine = Connection::new(self.config, seed);
        let shared = Shared::new(machine, self.host, settings);
        shared.command(Connection::start);
        let driver = Driver::new(Arc::clone(&shared), Box::new(transport), max_frame);
        tokio::spawn(driver);
        let client = Client::new(shared);
        if !self.handlers.is_empty() {
            let shared = Arc::clone(client.shared());
            let notifications = client.notifications();
            tokio::spawn(handler::run(shared, notifications, self.handlers));
        }
        client
    }
}

/// A name that no other client of the program has by default.
fn default_name() -> Arc<str> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    format!("client-{number}").into()
}

/// A number that differs from process to process and from call to call, which
/// is all that jitter needs.
fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
