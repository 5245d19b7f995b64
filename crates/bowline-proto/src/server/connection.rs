//! The connection state machine, as its driver sees it.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    ClientInfo, Config, Input, Output,
    calls::Calls,
    client_info_cache::ClientInfoCache,
    core::{Core, Phase},
    meta_cache::MetaCache,
    open_requests::OpenRequests,
    session::Session,
    subscription_streams::SubscriptionStreams,
};
use crate::{Instant, revision::Revision};

/// A connection to one client over one link: a pipe, a socket, memory.
///
/// # How to drive it
///
/// - **[`handle`](Self::handle)** reports what happened on the link or the
///   clock.
/// - **Commands** ([`respond`](Self::respond), [`progress`](Self::progress),
///   [`log`](Self::log), [`call`](Self::call), [`shutdown`](Self::shutdown), …)
///   state what the host wants.
/// - After either, drain **[`poll_output`](Self::poll_output)** until it
///   returns [`Output::Idle`], and do what each output asks for. The deadline
///   of `Idle` is when to call `handle` with [`Input::Tick`].
/// - **[`is_receiving`](Self::is_receiving)** returns whether the next frame
///   may be delivered.
///
/// Time must not go backwards. Nothing else is required: any input and any
/// command is accepted at any time, and what no longer applies is ignored.
///
/// # Guarantees
///
/// - Every request is answered at most once, and exactly once unless the client
///   cancels it or the link is lost. In that case the host receives
///   [`Event::Cancelled`](super::Event::Cancelled), and nothing more is sent
///   about the request, whatever the host does.
/// - The era is decided for each request by what the request carries, so one
///   link can serve both. `initialize`, `server/discover`, `ping`,
///   `logging/setLevel` and `subscriptions/listen` are answered here;
///   `resources/subscribe` and `resources/unsubscribe` are passed to the host
///   like any other request, and take effect when the host grants them.
/// - Nothing is sent that the client must not receive: no progress without a
///   token or out of order, no log messages below its level, no changes that it
///   has not subscribed to, no call that it did not declare to answer.
/// - Every call ends with exactly one [`Output::CallDone`].
///
/// Batches, where the revision has them, are split; their responses are sent
/// one by one as they become available.
///
/// ```
/// use bowline_proto::{Instant, server::{Config, Connection, Input, Output}};
///
/// let mut connection = Connection::new(Config::new("travel", "1.0.0"));
/// let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
/// connection.handle(Instant::ORIGIN, Input::Frame(ping.as_slice().into()));
/// let Output::Send { frame, .. } = connection.poll_output() else {
///     panic!("a ping is answered at once");
/// };
/// assert_eq!(frame, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
/// ```
#[derive(Debug)]
pub struct Connection {
    pub(super) core: Core,
    /// The session of the handshake era, once it is open.
    pub(super) session: Option<Session>,
    /// The client that sent the last request of the stateless era.
    pub(super) client_cache: ClientInfoCache,
    /// The `_meta` of the last request, in either era.
    pub(super) meta_cache: MetaCache,
    pub(super) requests: OpenRequests,
    pub(super) subscription_streams: SubscriptionStreams,
    pub(super) calls: Calls,
}

/// The number of items a connection holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// The client's open requests.
    pub requests: usize,
    /// The ids of those requests.
    pub ids: usize,
    /// The client's subscription streams.
    pub subscription_streams: usize,
    /// The resources the client is subscribed to.
    pub subscribed_uris: usize,
    /// Our open calls.
    pub calls: usize,
    /// The deadlines of those calls.
    pub timers: usize,
    /// Outputs not polled yet.
    pub outputs: usize,
}

impl Connection {
    /// Creates a connection whose link is open. Connections of one server share
    /// their settings if these are passed as an `Arc`.
    #[must_use]
    pub fn new(config: impl Into<Arc<Config>>) -> Self {
        Self {
            core: Core::new(config.into()),
            session: None,
            client_cache: ClientInfoCache::default(),
            meta_cache: MetaCache::default(),
            requests: OpenRequests::default(),
            subscription_streams: SubscriptionStreams::default(),
            calls: Calls::default(),
        }
    }

    /// Makes the ids of our calls start above this number.
    ///
    /// A connection that takes over a session from another one must not reuse
    /// its ids: the client may still answer the other's calls. If the last id
    /// is not known, use a random number below 2^52, which every client can
    /// represent.
    #[must_use]
    pub fn with_call_ids_after(mut self, id: u64) -> Self {
        self.calls = Calls::with_ids_after(id);
        self
    }

    /// Handles an input.
    pub fn handle(&mut self, now: Instant, input: Input) {
        if self.core.is_closed() {
            return;
        }
        match input {
            Input::Frame(frame) => self.handle_frame(now, &frame),
            Input::OversizedFrame { size, prefix } => {
                self.handle_oversized_frame(now, size, &prefix);
            }
            Input::Closed => self.link_closed(now),
            Input::Tick => self.tick(now),
        }
    }

    /// Returns the next thing to do.
    pub fn poll_output(&mut self) -> Output {
        match self.core.pop_output() {
            Some(output) => output,
            None => Output::Idle(self.next_deadline()),
        }
    }

    fn tick(&mut self, now: Instant) {
        while let Some(call) = self.calls.overdue(now) {
            self.call_timed_out(now, call);
        }
        if matches!(self.core.phase, Phase::Draining { deadline } if deadline <= now) {
            self.drain_timed_out(now);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let drain_deadline = match self.core.phase {
            Phase::Draining { deadline } => Some(deadline),
            Phase::Open | Phase::Closed => None,
        };
        drain_deadline
            .into_iter()
            .chain(self.calls.next_deadline())
            .min()
    }
}

/// Inspection.
impl Connection {
    /// Returns whether the next frame may be delivered. Once false, it stays
    /// false.
    #[must_use]
    pub fn is_receiving(&self) -> bool {
        !self.core.is_closed()
    }

    /// Returns whether the link is lost or was closed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.core.is_closed()
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// Returns the revision and the client of the session, if a handshake
    /// opened one.
    #[must_use]
    pub fn session(&self) -> Option<(Revision, &ClientInfo)> {
        let session = self.session.as_ref()?;
        Some((session.rules.revision, &session.client))
    }

    /// Returns the resources with a subscription, in either era.
    #[must_use]
    pub fn subscribed_uris(&self) -> BTreeSet<&str> {
        let by_session = self.session.iter().flat_map(|it| it.subscribed.iter());
        let by_streams = self
            .subscription_streams
            .iter()
            .flat_map(|(_, it)| &it.filter.uris);
        let by_streams = by_streams.map(|uri| &**uri);
        by_session.chain(by_streams).collect()
    }

    /// Returns whether this resource has a subscription, in either era.
    #[must_use]
    pub fn is_subscribed(&self, uri: &str) -> bool {
        let in_session = self
            .session
            .as_ref()
            .is_some_and(|it| it.subscribed.contains(uri));
        in_session
            || self
                .subscription_streams
                .iter()
                .any(|(_, it)| it.filter.uris.contains(uri))
    }

    /// Returns whether the session's client has completed the handshake.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.session.as_ref().is_some_and(|it| it.initialized)
    }

    /// Estimates how many bytes the session keeps while it is open: the
    /// client's description of itself and its subscriptions.
    #[must_use]
    pub fn session_bytes(&self) -> usize {
        let session = self.session.as_ref();
        session.map_or(0, |it| it.client_bytes + it.subscribed.size_estimate())
    }

    /// Returns the number of items the connection holds. At rest, all are zero.
    #[must_use]
    pub fn stats(&self) -> ConnectionStats {
        ConnectionStats {
            requests: self.requests.len(),
            ids: self.requests.id_count(),
            subscription_streams: self.subscription_streams.len(),
            subscribed_uris: self.subscribed_uris().len(),
            calls: self.calls.len(),
            timers: self.calls.deadline_count(),
            outputs: self.core.outputs_pending(),
        }
    }
}
