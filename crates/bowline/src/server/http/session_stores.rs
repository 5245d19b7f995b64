//! Stores for sessions and their events outside of this process.
//!
//! A session of the handshake era lives in one process: its calls run there,
//! and its client's answers must arrive there. What can move is its initial
//! state and the events sent.

use std::time::Duration;

use bytes::Bytes;

use crate::{proto::http::SessionId, server::store::StoreError, transport::BoxFuture};

/// The timeout for store operations.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the result of a store operation, or `None` if it fails or times out.
pub(super) async fn with_store_timeout<T>(
    operation: BoxFuture<'_, Result<T, StoreError>>,
) -> Option<T> {
    tokio::time::timeout(STORE_TIMEOUT, operation)
        .await
        .ok()?
        .ok()
}

/// Stores session records, so another node, or this one after a restart, can
/// restore them.
///
/// # What moves, and what does not
///
/// A restored session has the revision, the client's capabilities, its log
/// level and its subscriptions. Calls in progress and pending questions stay
/// with the process that runs them. So each session belongs to one node, which
/// its record names. With [`HttpOptions::cluster`](super::HttpOptions::cluster),
/// the other nodes forward its requests there, and take it over only when that
/// node is gone. Without, route requests by `Mcp-Session-Id`: a node that gets a
/// request of another one's session takes the session over. Requests of the
/// stateless era need neither.
///
/// A store failure fails no request of a session that is open here: the session
/// is then known to its own node only. A store that does not respond within ten
/// seconds has failed.
///
/// Subscriptions that require scopes are restored only if the token the client
/// presents to the other node allows them.
///
/// # How often it is put
///
/// A change to a session is put before the client receives its response. A
/// session with more than 64 subscriptions is not put for each one: a new one
/// is put within a second, or together with others.
///
/// # Expiry
///
/// A record is kept for its `ttl` and put again while the session is in use.
/// Expired records must not be returned.
pub trait SessionStore: Send + Sync + 'static {
    /// Stores a session, unless there is a record of another node. Returns
    /// whether it was stored.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Returns the record of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// Makes `to` the node of a session, if it belongs to `from`. Returns whether
    /// it did. The expiry does not change.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn take_over<'a>(
        &'a self,
        id: &'a SessionId,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Removes a session that has ended, if it belongs to `node`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        node: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// The record of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// The node that the session belongs to.
    pub node: String,
    /// Identifies the owner: 32 characters of `0-9` and `a-f`, or empty. A store can
    /// limit the share of each owner.
    pub account: String,
    /// The owner, and the messages that define the session. If the server's
    /// [`SealKeys`](crate::server::seal::SealKeys) come from a secret, it is sealed.
    pub value: Bytes,
}

/// Stores the events of session streams, so a client can resume when the node
/// that sent them is gone, or keeps less than
/// [`HttpOptions::replay_limits`](super::HttpOptions::replay_limits) allows.
///
/// Events are stored in order, but after they are sent: a node that crashes may
/// have sent more than is stored. A store that does not respond within ten
/// seconds has failed. A call in progress there is not finished by another
/// node; its stream ends after the stored events.
pub trait EventStore: Send + Sync + 'static {
    /// Stores an event for the `ttl`. Events of one stream arrive in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. The event may or may not be
    /// stored; if not, the gap is detected when the stream is resumed.
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the events of a session's stream with a greater sequence number,
    /// in order; none if the stream is unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>>;

    /// Removes all events of a session that its client ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// An event sent on a stream of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The name of its stream, unique within the session.
    pub stream: String,
    /// Its sequence number in the stream, starting at one, without gaps.
    pub sequence: u64,
    /// Whether this is the standalone stream, for messages that belong to no
    /// request.
    pub is_standalone: bool,
    /// The JSON-RPC message. If the server's
    /// [`SealKeys`](crate::server::seal::SealKeys) come from a secret, it is sealed.
    pub message: Bytes,
}
