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
//! - `stateless` and `listen` serve the newer era, `session` and `sessions` the
//!   older ones, with `streams` to send what belongs to which request.
//! - `answer`, `body` and `events` are what goes out; `cors` is for browsers;
//!   `socket` is the server for those who have none.

mod answer;
mod body;
mod cors;
mod entry;
mod events;
mod listen;
mod options;
mod post;
mod session;
mod sessions;
mod socket;
mod stateless;
mod streams;

use std::{fmt, sync::Arc, time::Duration};

pub use body::Body;
pub use options::HttpOptions;

use tokio::sync::Semaphore;

use super::request::Handle;
use sessions::Sessions;

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
    sessions: Sessions,
    /// Places for streams of changes.
    listens: Arc<Semaphore>,
}

impl HttpService {
    pub(crate) fn new(handle: Arc<dyn Handle>, options: HttpOptions) -> Self {
        let sessions = Sessions::new(options.sessions, options.idle);
        Self {
            inner: Arc::new(Inner {
                listens: Arc::new(Semaphore::new(options.listens)),
                handle,
                options,
                sessions,
            }),
        }
    }

    /// How many sessions of the older revisions are open.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.inner.sessions.len()
    }

    /// Stops in order: no new requests, those under way may finish within the
    /// grace, sessions and streams of changes are closed.
    pub fn stop(&self, grace: Duration) {
        self.inner.handle.connections().stop(grace);
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}
