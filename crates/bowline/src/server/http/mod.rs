//! Streamable HTTP: one endpoint for every revision.
//!
//! [`HttpService`] is a `tower` service: it works with axum and other
//! tower-based servers, or standalone with [`HttpService::serve`]. A request of
//! revision 2026-07-28 (the stateless era) is answered without a session or a
//! task; a request of an earlier revision (the handshake era) belongs to a session
//! with its own state machine.
//!
//! - `handle_request` leads a request to its response. `request_headers` and
//!   `request_body` read it, `admission` checks quotas, and `post` determines
//!   the era.
//! - `stateless` and `listen_stream` serve the stateless era, the latter with
//!   `pending_changes`, the changes a client has not received yet.
//! - `session_requests` serves the handshake era: with `sessions`, found by
//!   `session_lookup`, each a
//!   `session`, whose `streams` route messages to requests and whose `recorder`
//!   keeps them for clients that resume. `session_record` and
//!   `event_store_writer` write to the `session_stores`, sealed by `session_seal`;
//!   `session_restores` loads sessions from them.
//! - `cluster` forwards requests to the node that has their session.
//! - `protected` checks tokens first, if the options require them.
//! - `response`, `status`, `body` and `events` build responses, `byte_queue`
//!   carries them; `cors` is for browsers.
//! - `quotas` and `session_slots` limit each client to its share, by `peer`
//!   address or principal.
//! - `listener` is the standalone server. Each `connection` has an `activity`
//!   state for its timeouts and a `write_timeout` for clients that do not read;
//!   `framing_checked_stream` checks its framing.

mod activity;
mod admission;
mod body;
mod byte_queue;
#[cfg(feature = "cluster")]
mod cluster;
mod connection;
mod cors;
mod event_store_writer;
mod events;
mod framing_checked_stream;
mod handle_request;
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
mod request_body;
mod request_headers;
mod response;
mod session;
mod session_lookup;
mod session_record;
mod session_requests;
mod session_restores;
mod session_seal;
mod session_slots;
mod session_stores;
mod sessions;
mod stateless;
mod status;
mod streams;
#[cfg(not(feature = "auth"))]
mod unprotected;
mod write_timeout;

use std::{fmt, sync::Arc, time::Duration};

pub use crate::proto::http::OriginPolicy;
pub use body::Body;
#[cfg(feature = "cluster")]
pub use cluster::{Cluster, MemoryNodeStore, NodeStore};
pub use options::{ClientLimits, DEFAULT_ADDRESS, HttpOptions};
pub use peer::{PeerAddr, PeerSource};
pub use session_stores::{EventStore, SessionStore, StoredEvent, StoredSession};

use super::{
    dispatch::request::RequestHandler,
    replay::journal::hex,
    seal::random_bytes,
    serve::{Connections, ShutdownSignal},
};
use crate::proto::{revision::Era, server::stateless::HttpGate};
use quotas::Quotas;
use session_restores::SessionRestores;
use session_seal::SessionSeal;
use sessions::{SessionConfig, Sessions};
pub(crate) use stateless::StreamChannel;
#[cfg(not(feature = "auth"))]
use unprotected as protected;

/// Serves MCP over HTTP. Cheap to clone; clones share their sessions.
///
/// It examines the method, headers and body of a request, not its path: routing
/// is the router's job.
#[derive(Clone)]
pub struct HttpService {
    inner: Arc<Inner>,
}

/// The sender of a request, as authenticated by a layer in front of the service.
/// The layer puts it into the request's extensions. Sessions and conversations can
/// then only be continued by the principal that began them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal(pub Arc<str>);

struct Inner {
    handler: Arc<dyn RequestHandler>,
    options: HttpOptions,
    /// The connections of our sessions and streams of changes, and their
    /// shutdown.
    connections: Arc<Connections>,
    sessions: Sessions,
    /// The resources clients have in use.
    quotas: Quotas,
    /// Sessions being restored.
    restores: SessionRestores,
    /// Admits stateless requests.
    gate: HttpGate,
    /// This node, if there are others.
    #[cfg(feature = "cluster")]
    cluster: Option<cluster::ClusterNode>,
}

impl HttpService {
    pub(crate) fn new(handler: Arc<dyn RequestHandler>, options: HttpOptions) -> Self {
        let options = options.with_finite_durations().with_stores(&*handler);
        let node: Arc<str> = hex(&random_bytes::<16>()).into();
        let server_name = &handler.config().server_info.name;
        let seal = SessionSeal::new(handler.seal_keys(), server_name);
        #[cfg(feature = "cluster")]
        let cluster = cluster::ClusterNode::new(&options, &node, &*handler);
        let session_config = SessionConfig {
            idle_timeout: options.idle_timeout,
            uninitialized_timeout: options.idle_timeout.min(options.uninitialized_timeout),
            store: options.session_store.clone(),
            seal: Arc::new(seal),
            node,
        };
        Self {
            inner: Arc::new(Inner {
                connections: handler.connections().child(),
                sessions: Sessions::new(&options, session_config),
                quotas: Quotas::new(&options),
                restores: SessionRestores::default(),
                gate: HttpGate::default(),
                #[cfg(feature = "cluster")]
                cluster,
                handler,
                options,
            }),
        }
    }

    /// Returns the number of open sessions (revisions up to 2025-11-25).
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.inner.sessions.len()
    }

    /// Returns the number of bytes kept for clients that resume session
    /// streams.
    #[must_use]
    pub fn replay_bytes(&self) -> usize {
        self.inner.quotas.replay_bytes()
    }

    /// Stops gracefully: accepts no new requests, lets calls in progress finish
    /// within `timeout`, and closes every connection, session and stream of
    /// changes. Then [`serve`](Self::serve) returns.
    ///
    /// [`Service::stop`](super::Service::stop) does the same for all clients of
    /// the server, over any transport.
    pub fn stop(&self, timeout: Duration) {
        self.inner.connections.stop(timeout);
    }
}

impl Inner {
    /// Returns the shutdown signal, for this service or the whole server.
    fn stopping(&self) -> &ShutdownSignal {
        self.connections.stopping()
    }

    /// Returns whether the server supports revisions that have sessions.
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
