//! Who answers a request for a session: this node, or the one that has it.

use std::{net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};
use tokio::time::Instant;

use super::{
    super::{
        Body, Inner,
        admission::invalid_request_response,
        post::principal,
        protected,
        quotas::ClientQuota,
        response,
        session::Session,
        session_lookup::{LocatedSession, session_error_response},
        session_stores::with_store_timeout,
        status::ResponseStatus,
    },
    ClusterNode, ForwardedBody, ForwardedRequest,
    forwarder::{self, Forwarded},
};
use crate::proto::{
    http::{SessionError, SessionId},
    jsonrpc::{Envelope, scan},
    server::errors,
};

/// The delay before a node is tried again that could not be reached.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// A request for a session that this node does not have.
pub(in super::super) struct RemoteRequest<'a> {
    pub(in super::super) id: &'a SessionId,
    pub(in super::super) parts: &'a Parts,
    pub(in super::super) body: &'a Bytes,
    pub(in super::super) quota: &'a Arc<ClientQuota>,
}

impl ClusterNode {
    /// Returns whether this node has the session and nobody can have taken it over.
    pub(in super::super) fn is_owner(&self, session: &Session) -> bool {
        self.membership.current_term() == Some(session.term())
    }

    /// Registers this node: others would take over the session of a node that they do not
    /// know.
    async fn register(&self) -> Option<u64> {
        self.membership.ensure_registered().await
    }
}

impl Inner {
    /// Returns the term in which a new session is ours.
    pub(in super::super) fn cluster_term(&self) -> u64 {
        let term = self.cluster.as_ref().map(|it| it.membership.term());
        term.unwrap_or_default()
    }

    /// Registers this node before it opens a session. Returns the response if it cannot.
    pub(in super::super) async fn register_in_cluster(&self) -> Option<Response<Body>> {
        let cluster = self.cluster.as_ref()?;
        match cluster.register().await {
            Some(_) => None,
            None => Some(store_unavailable()),
        }
    }

    /// Finds out whether a session that is open here still belongs to this node, after
    /// its lease may have ended. If not, the session is closed.
    ///
    /// # Errors
    ///
    /// Returns the response if the store cannot say.
    pub(in super::super) async fn confirm_ownership(
        &self,
        cluster: &ClusterNode,
        session: &Arc<Session>,
    ) -> Result<bool, Box<Response<Body>>> {
        let unavailable = || Box::new(store_unavailable());
        let term = cluster.membership.ensure_registered().await;
        let term = term.ok_or_else(unavailable)?;
        if session.term() == term {
            return Ok(true);
        }
        let Some(store) = &self.options.session_store else {
            return Ok(true);
        };
        let stored = with_store_timeout(store.get(&session.id)).await;
        let stored = stored.ok_or_else(unavailable)?;
        let node = &*self.sessions.config.node;
        if stored.is_none_or(|stored| stored.node == node) {
            session.set_term(term);
            return Ok(true);
        }
        self.sessions.remove(session);
        Ok(false)
    }

    /// Forwards a request to the node that has the session, or takes the session over
    /// if that node is gone.
    pub(in super::super) async fn locate_in_cluster(
        &self,
        cluster: &ClusterNode,
        request: &RemoteRequest<'_>,
    ) -> LocatedSession {
        if ForwardedRequest::of(request.parts).is_some() {
            // The node that sent it looks again.
            return answered(response::empty_response(forwarder::NOT_HERE));
        }
        // A node that is gone has lost its lease by then.
        let deadline = Instant::now() + 2 * cluster.membership.lease();
        loop {
            match self.try_to_locate(cluster, request).await {
                Some(located) => return located,
                None if Instant::now() >= deadline => {
                    return answered(invalid_request_response(
                        ResponseStatus::unavailable(cluster.membership.lease()),
                        "the node that has the session does not respond, try again later",
                    ));
                }
                None => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }

    /// Returns `None` if it is worth another try: nothing was sent.
    async fn try_to_locate(
        &self,
        cluster: &ClusterNode,
        request: &RemoteRequest<'_>,
    ) -> Option<LocatedSession> {
        let not_found = || answered(session_error_response(SessionError::NotFound));
        let store = self.options.session_store.as_ref()?;
        let Some(stored) = with_store_timeout(store.get(request.id)).await else {
            return Some(answered(store_unavailable()));
        };
        let config = &self.sessions.config;
        let contents = stored
            .as_ref()
            .and_then(|stored| config.seal.open_record(request.id, &stored.value));
        let caller = principal(request.parts);
        let contents = contents.filter(|it| it.principal.as_deref() == caller.as_deref());
        let (Some(stored), Some(_)) = (stored, contents) else {
            return Some(not_found());
        };
        if stored.node != *config.node {
            let address = cluster.membership.nodes().address(&stored.node);
            let Some(address) = with_store_timeout(address).await else {
                return Some(answered(store_unavailable()));
            };
            if let Some(address) = address {
                return self.forward(cluster, &address, request).await;
            }
        }
        // Its node is gone.
        if cluster.register().await.is_none() {
            return Some(answered(store_unavailable()));
        }
        let restored = self.restore_session(request.id, request.parts, request.quota);
        // Another node may have been first.
        restored.await.ok().map(LocatedSession::Here)
    }

    async fn forward(
        &self,
        cluster: &ClusterNode,
        address: &str,
        request: &RemoteRequest<'_>,
    ) -> Option<LocatedSession> {
        let RemoteRequest {
            id,
            parts,
            body,
            quota,
        } = request;
        let peer = peer_of(self, parts, quota);
        let sealed = cluster.seal.seal(parts, id, body, peer)?;
        let forwarded = cluster
            .forwarder
            .forward(address, parts, sealed, (*body).clone());
        match forwarded.await {
            Forwarded::Response(response) => {
                let (mut head, incoming) = response.into_parts();
                forwarder::remove_connection_headers(&mut head.headers);
                let lifetime = protected::stream_token_lifetime(parts);
                let body = Body::forwarded(ForwardedBody::new(incoming, lifetime));
                Some(answered(Response::from_parts(head, body)))
            }
            Forwarded::NotHere | Forwarded::NotSent => None,
            Forwarded::Lost => Some(answered(lost(body))),
        }
    }
}

fn peer_of(inner: &Inner, parts: &Parts, quota: &ClientQuota) -> Option<IpAddr> {
    inner.options.peer_source.read(parts).or(quota.address())
}

fn answered(response: Response<Body>) -> LocatedSession {
    LocatedSession::Answered(Box::new(response))
}

fn store_unavailable() -> Response<Body> {
    let status = ResponseStatus::unavailable(RETRY_DELAY);
    invalid_request_response(
        status,
        "the session store does not respond, try again later",
    )
}

/// The response to a request that was lost with its node: the caller must know that it may
/// have had an effect, so it is no status on which clients send it again.
fn lost(body: &Bytes) -> Response<Body> {
    let error = errors::internal_error(
        "The node that had the session was lost while it processed the request; whether it had \
         an effect is unknown",
    );
    match scan(body) {
        Ok(Envelope::Request { id, .. }) => {
            response::jsonrpc_error(StatusCode::OK, Some(&id), &error)
        }
        _ => response::jsonrpc_error(StatusCode::BAD_GATEWAY, None, &error),
    }
}
