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
//!   `pulse`, by which its time is kept, and a `write_limit` for clients that do
//!   not read; what it brings is `framed` strictly.

mod accounts;
mod answer;
mod body;
mod connection;
mod cors;
mod entry;
mod events;
mod exchange;
mod framed;
mod listen;
mod made_of;
mod news;
mod notes;
mod options;
mod patience;
mod peer;
mod pipe;
mod post;
#[cfg(feature = "auth")]
mod protected;
mod pulse;
mod recorder;
mod seats;
mod session;
mod sessions;
mod socket;
mod stateless;
mod store;
mod streams;
mod taking_up;
#[cfg(not(feature = "auth"))]
mod unprotected;
mod write_limit;

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

pub use body::Body;
pub use options::{ClientLimits, DEFAULT_ADDRESS, HttpOptions};
pub use peer::{PeerAddr, PeerSource};
pub use store::{EventStore, SessionStore, StoredEvent, StoredSession};

use super::{
    replay::journal::hex,
    request::Handle,
    seal::random_bytes,
    serve::{Connections, Stopping},
};
use crate::proto::{revision::Era, server::stateless::LastClient};
use accounts::Accounts;
use sessions::{Life, Sessions};
pub(crate) use stateless::StreamVoice;
use taking_up::TakingUp;
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
    handle: Arc<dyn Handle>,
    options: HttpOptions,
    /// Those of our sessions and streams of changes, and when they end.
    connections: Arc<Connections>,
    sessions: Sessions,
    /// What clients have in use.
    accounts: Accounts,
    /// Sessions that are about to be taken up.
    taking_up: TakingUp,
    /// The client that spoke for itself last.
    last_client: Mutex<LastClient>,
}

impl HttpService {
    pub(crate) fn new(handle: Arc<dyn Handle>, options: HttpOptions) -> Self {
        let options = options.bounded();
        let life = Life {
            idle: options.idle,
            uninitialized: options.idle.min(options.initialized_timeout),
            store: options.session_store.clone(),
            node: hex(&random_bytes::<16>()).into(),
        };
        Self {
            inner: Arc::new(Inner {
                connections: handle.connections().part(),
                sessions: Sessions::new(&options, life),
                accounts: Accounts::new(&options),
                taking_up: TakingUp::default(),
                last_client: Mutex::default(),
                handle,
                options,
            }),
        }
    }

    /// How many sessions of the older revisions are open.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.inner.sessions.len()
    }

    /// How many bytes are kept for clients of sessions that come back for what
    /// they missed.
    #[must_use]
    pub fn replay_bytes(&self) -> usize {
        self.inner.accounts.replay_bytes()
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
    fn stopping(&self) -> &Stopping {
        self.connections.stopping()
    }

    /// Whether the server speaks revisions that have sessions.
    fn has_sessions(&self) -> bool {
        self.handle.config().speaks(Era::Handshake)
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}
