//! Serving over HTTP: one endpoint for every revision.
//!
//! [`HttpService`] is a `tower` service: it drops into axum and everything else
//! that speaks tower, or serves by itself with [`HttpService::serve`]. What a
//! request is decides how it is served: one that speaks for itself is answered
//! by itself, without a session and without a task; one of the older revisions
//! belongs to a session, which has a machine of its own.
//!
//! - `entry` lets requests in, by method, host, origin and size; `post` tells
//!   the eras apart.
//! - `stateless` and `listen` serve the newer era, the latter with `news`, what
//!   a client has yet to hear.
//! - `exchange` serves the older ones: with `sessions`, each a `session`, whose
//!   `streams` send what belongs to which request and whose `recorder` keeps it
//!   for those who come back. `made_of` and `notes` keep it in a `store`, from
//!   where others have it by `taking_up`.
//! - `protected` asks for tokens first, where the options say so.
//! - `answer`, `body` and `events` are what goes out, through a `pipe`; `cors`
//!   is for browsers.
//! - `accounts` and `seats` see to it that no client, by its `peer` address or
//!   by name, has more than its part.
//! - `socket` is the server for those who have none. Each `connection` has a
//!   `pulse`, by which its time is kept, and a `write_timeout` for clients that do
//!   not read; what it brings is `framed` strictly.

mod activity;
mod body;
mod byte_queue;
mod connection;
mod cors;
mod event_store_writer;
mod events;
mod framing_checked_stream;
mod ingress;
mod lazy_timeout;
mod listen_stream;
mod listener;
mod options;
mod peer;
mod pending_changes;
mod post;
#[cfg(feature = "auth")]
mod protected;
mod quotas;
mod recorder;
mod response;
mod session;
mod session_record;
mod session_requests;
mod session_restores;
mod session_slots;
mod sessions;
mod stateless;
mod store;
mod streams;
#[cfg(not(feature = "auth"))]
mod unprotected;
mod write_timeout;

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

pub use crate::proto::http::OriginPolicy;
pub use body::Body;
pub use options::{ClientLimits, DEFAULT_ADDRESS, HttpOptions};
pub use peer::{PeerAddr, PeerSource};
pub use store::{EventStore, SessionStore, StoredEvent, StoredSession};

use super::{
    dispatch::request::RequestHandler,
    replay::journal::hex,
    seal::random_bytes,
    serve::{Connections, ShutdownSignal},
};
use crate::proto::{revision::Era, server::stateless::ClientInfoCache};
use quotas::Quotas;
use session_restores::SessionRestores;
use sessions::{SessionConfig, Sessions};
pub(crate) use stateless::StreamChannel;
#[cfg(not(feature = "auth"))]
use unprotected as protected;

/// Serves MCP over HTTP. Cheap to clone; clones share their sessions.
///
/// It looks at the method, the headers and the body of a request, not at its
/// path: where it stands is the router's business.
#[derive(Clone)]
pub struct HttpService {
    inner: Arc<Inner>,
}

/// Whom a request comes from, as a layer in front of the service found out.
/// Put it into the request's extensions; then nobody else can go on with that
/// caller's sessions and conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal(pub Arc<str>);

struct Inner {
    handler: Arc<dyn RequestHandler>,
    options: HttpOptions,
    /// Those of our sessions and streams of changes, and when they end.
    connections: Arc<Connections>,
    sessions: Sessions,
    /// What clients have in use.
    quotas: Quotas,
    /// Sessions that are about to be taken up.
    restores: SessionRestores,
    /// The client that spoke for itself last.
    last_client: Mutex<ClientInfoCache>,
}

impl HttpService {
    pub(crate) fn new(handler: Arc<dyn RequestHandler>, options: HttpOptions) -> Self {
        let options = options.with_finite_durations();
        let session_config = SessionConfig {
            idle_timeout: options.idle_timeout,
            uninitialized_timeout: options.idle_timeout.min(options.uninitialized_timeout),
            store: options.session_store.clone(),
            node: hex(&random_bytes::<16>()).into(),
        };
        Self {
            inner: Arc::new(Inner {
                connections: handler.connections().child(),
                sessions: Sessions::new(&options, session_config),
                quotas: Quotas::new(&options),
                restores: SessionRestores::default(),
                last_client: Mutex::default(),
                handler,
                options,
            }),
        }
    }

    /// How many sessions of the older revisions are open.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.inner.sessions.len()
    }

    /// How many bytes are kept for clients of sessions that come back for what
    /// they missed.
    #[must_use]
    pub fn replay_bytes(&self) -> usize {
        self.inner.quotas.replay_bytes()
    }

    /// Stops in order: no new requests, those under way may finish within the
    /// grace, sessions and streams of changes are closed. Then
    /// [`serve`](Self::serve) returns.
    ///
    /// [`Service::stop`](super::Service::stop) does the same for all clients of
    /// the server, over HTTP or not.
    pub fn stop(&self, grace: Duration) {
        self.inner.connections.stop(grace);
    }
}

impl Inner {
    /// Whether the end was called for, here or for the whole server.
    fn stopping(&self) -> &ShutdownSignal {
        self.connections.stopping()
    }

    /// Whether the server speaks revisions that have sessions.
    fn has_sessions(&self) -> bool {
        self.handler.config().supports_era(Era::Handshake)
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("sessions", &self.session_count())
            .finish_non_exhaustive()
    }
}
