//! The connection machine, as its driver sees it.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    ClientInfo, Config, Input, Output,
    calls::Calls,
    core::{Core, Phase},
    meta_cache::MetaCache,
    open_requests::OpenRequests,
    session::Session,
    stateless::ClientInfoCache,
    subscription_streams::SubscriptionStreams,
};
use crate::{Instant, revision::Revision};

/// One client at the other end of one link: a pipe, a socket, memory.
///
/// # How to drive it
///
/// - **[`handle`](Self::handle)** says what happened on the link or the clock.
/// - **Commands** ([`respond`](Self::respond), [`progress`](Self::progress),
///   [`log`](Self::log), [`call`](Self::call), [`shutdown`](Self::shutdown), …)
///   say what the host wants.
/// - After either, drain **[`poll_output`](Self::poll_output)** until it says
///   [`Output::Idle`], and do as it says. Its deadline is when to come back with
///   [`Input::Tick`].
/// - **[`receiving`](Self::receiving)** says whether the next frame may be
///   delivered.
///
/// Time must not go backwards. Nothing else is required: any input and any
/// command is accepted at any time, and what means nothing any more is ignored.
///
/// # What it promises
///
/// - Every request is answered at most once, and exactly once unless the client
///   called it off or the link went away; then the host is told with
///   [`Event::Cancelled`](super::Event::Cancelled) and nothing more is sent about
///   it, whatever the host says.
/// - Which era a request belongs to is decided request by request, by what it
///   carries, so that one link may serve both. `initialize`, `server/discover`,
///   `ping`, `logging/setLevel` and `subscriptions/listen` are answered here;
///   `resources/subscribe` and its opposite are handed up like any other request,
///   and take effect when the host grants them.
/// - Nothing is sent that the client may not hear: no progress without a token or
///   out of order, no log messages below its level, no changes that it does not
///   watch, no call that it did not declare to answer.
/// - Every call of ours ends with one [`Output::Done`].
///
/// Batches, where the revision has them, are taken apart; their answers are sent
/// one by one, as they come.
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
    /// The session of the handshake era, once there is one.
    pub(super) session: Option<Session>,
    /// Who made the last request of the stateless era.
    pub(super) client_cache: ClientInfoCache,
    /// What the last request said of itself, in either era.
    pub(super) meta_cache: MetaCache,
    pub(super) requests: OpenRequests,
    pub(super) subscription_streams: SubscriptionStreams,
    pub(super) calls: Calls,
}

/// How many things a connection holds on to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// The client's requests that are not answered.
    pub requests: usize,
    /// Their ids.
    pub ids: usize,
    /// Its streams of changes.
    pub subscription_streams: usize,
    /// The resources that it watches.
    pub subscribed_uris: usize,
    /// Our calls that have not ended.
    pub calls: usize,
    /// Their deadlines.
    pub timers: usize,
    /// Outputs not polled yet.
    pub outputs: usize,
}

impl Connection {
    /// A connection whose link is there. Those of one server share their
    /// settings, if they are given them in an `Arc`.
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

    /// Gives the calls of ours ids that are greater than this.
    ///
    /// A connection that goes on with a session that another had must not use
    /// the other's ids again: the client may still answer what that asked. Where
    /// the number is not known, one that is drawn at random will do; below
    /// 2^52, so that every client can read it.
    #[must_use]
    pub fn with_call_ids_after(mut self, id: u64) -> Self {
        self.calls = Calls::with_ids_after(id);
        self
    }

    /// Takes in what happened.
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

    /// The next thing to do.
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

/// Looking.
impl Connection {
    /// Whether the next frame may be delivered. Once it is not, it never is.
    #[must_use]
    pub fn is_receiving(&self) -> bool {
        !self.core.is_closed()
    }

    /// Whether the link is gone, or was hung up.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.core.is_closed()
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// The revision and the client of the session, if a handshake opened one.
    #[must_use]
    pub fn session(&self) -> Option<(Revision, &ClientInfo)> {
        let session = self.session.as_ref()?;
        Some((session.rules.revision, &session.client))
    }

    /// The resources that somebody watches, in either era.
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

    /// Whether somebody watches this resource, in either era.
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

    /// Whether the client of a session has ended the handshake.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.session.as_ref().is_some_and(|it| it.initialized)
    }

    /// About how many bytes the session keeps as long as it is open: of what the
    /// client said of itself, and of what it watches.
    #[must_use]
    pub fn session_bytes(&self) -> usize {
        let session = self.session.as_ref();
        session.map_or(0, |it| it.client_bytes + it.subscribed.size_estimate())
    }

    /// What the connection holds on to. At rest, all of it is zero.
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
