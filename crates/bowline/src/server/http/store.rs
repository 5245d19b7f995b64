//! Where sessions and their events can be kept besides this process.
//!
//! A session of the older revisions lives in one process: its calls run there,
//! and its client's answers must come there. What can move is what it began
//! with, and what was sent.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{proto::http::SessionId, server::store::StoreError, transport::BoxFuture};

/// How long a store may take to answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// What a store answers, if it does so in time and does not fail.
pub(super) async fn with_store_timeout<T>(
    operation: BoxFuture<'_, Result<T, StoreError>>,
) -> Option<T> {
    tokio::time::timeout(STORE_TIMEOUT, operation)
        .await
        .ok()?
        .ok()
}

/// Keeps what sessions are made of, so that another node, or this one after a
/// restart, can take them up.
///
/// # What moves, and what does not
///
/// A session that is taken up has the revision, the client's capabilities, its
/// log level and its subscriptions. Calls under way, and questions that wait
/// for an answer, stay behind with the process that runs them. So this is for
/// restarts and for nodes that fail; as long as a node lives, its sessions'
/// requests should be routed to it, by `Mcp-Session-Id`. Requests of the
/// stateless revision need neither.
///
/// A store that fails costs no request: the session is then known to its own
/// node only. One that does not answer within ten seconds has failed.
///
/// What takes scopes to watch is watched on where the token allows it that the
/// client comes to the other node with.
///
/// # How often it is put
///
/// What changes a session is put before the client has its answer. A session
/// that watches more than 64 resources is not put for each of them: one that is
/// new is put within a second, or together with others.
///
/// # Expiry
///
/// What was put is kept for its `ttl`, and put again while the session is used.
/// What has expired must not be returned.
pub trait SessionStore: Send + Sync + 'static {
    /// Keeps a session, in place of what was kept of it before.
    ///
    /// # Errors
    ///
    /// If the store failed.
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// What is kept of a session.
    ///
    /// # Errors
    ///
    /// If the store failed.
    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// Forgets a session that its client ended.
    ///
    /// # Errors
    ///
    /// If the store failed.
    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// What a session is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    /// Whose it is, where that is known. Nobody else can take it up.
    pub principal: Option<String>,
    /// What the client said that made the session what it is: JSON-RPC
    /// messages, the opening first.
    pub messages: Vec<String>,
    /// The node that noted it last. One that has no room for a session any
    /// more forgets it here only if no other node has noted it since.
    #[serde(default)]
    pub node: String,
}

/// Keeps what was sent on the streams of sessions, so that a client can come
/// back for what it missed when the node that sent it is gone, or keeps no more
/// of it than [`HttpOptions::replay`](super::HttpOptions::replay) allows.
///
/// What is sent is noted in order, but after it was sent: a node that dies may
/// have sent more than is noted. A store that does not answer within ten seconds
/// has failed. A call that was under way there is not
/// finished by anybody else; its stream ends after what is noted of it.
pub trait EventStore: Send + Sync + 'static {
    /// Keeps an event for the `ttl`. Those of one stream come in their order.
    ///
    /// # Errors
    ///
    /// If the store failed. The event may be kept or not; if not, the gap is
    /// noticed when the stream is resumed.
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The events of a session's stream with numbers greater than this one, in
    /// their order; none where the stream is not known.
    ///
    /// # Errors
    ///
    /// If the store failed.
    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>>;

    /// Forgets all events of a session that its client ended.
    ///
    /// # Errors
    ///
    /// If the store failed.
    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Something that was sent on a stream of a session's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The name of its stream, unique within the session.
    pub stream: String,
    /// Its number in the stream, from one, without gaps.
    pub sequence: u64,
    /// Whether the stream is the one for what belongs to no request.
    pub is_standalone: bool,
    /// The JSON-RPC message.
    pub message: Bytes,
}
