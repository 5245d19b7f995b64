//! Finding the session of a request: here, in the store, or at another node.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};

#[cfg(feature = "cluster")]
use super::cluster::RemoteRequest;
use super::{
    Body, Inner,
    post::principal,
    quotas::{ClientQuota, RequestPermit},
    request_headers::RequestHeaders,
    response,
    session::{Session, SessionOwner},
    session_stores::with_store_timeout,
    sessions::SessionConfig,
    status::ResponseStatus,
};
use crate::{
    proto::http::{RequestedSession, SessionError, SessionId, session_from_headers},
    server::auth::permissions::Permissions,
};

/// The location of the session a request names.
pub(super) enum SessionLookup {
    Local(Arc<Session>),
    /// Another node may have it.
    Remote(SessionId),
    /// The request names no session.
    NoId,
}

/// The session of a request.
pub(super) enum LocatedSession {
    Here(Arc<Session>),
    /// There is none, or another node has it and has answered.
    Answered(Box<Response<Body>>),
}

impl From<SessionError> for LocatedSession {
    fn from(refusal: SessionError) -> Self {
        Self::Answered(Box::new(session_error_response(refusal)))
    }
}

impl Inner {
    pub(super) async fn require_session(
        &self,
        parts: &Parts,
        permit: &RequestPermit,
    ) -> LocatedSession {
        match self.lookup_session(parts, false) {
            Ok(SessionLookup::Local(session)) => LocatedSession::Here(session),
            Ok(SessionLookup::Remote(id)) => {
                self.locate_session(&id, parts, &Bytes::new(), permit).await
            }
            Ok(SessionLookup::NoId) => SessionError::Missing.into(),
            Err(refusal) => refusal.into(),
        }
    }

    /// Finds a session that is not open here, or may belong to another node by now.
    pub(super) async fn locate_session(
        &self,
        id: &SessionId,
        parts: &Parts,
        body: &Bytes,
        permit: &RequestPermit,
    ) -> LocatedSession {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            if let Some(session) = self.sessions.get(id) {
                match self.confirm_ownership(cluster, &session).await {
                    Ok(true) => return LocatedSession::Here(session),
                    Ok(false) => {}
                    Err(response) => return LocatedSession::Answered(response),
                }
            }
            let request = RemoteRequest {
                id,
                parts,
                body,
                quota: permit.quota(),
            };
            return self.locate_in_cluster(cluster, &request).await;
        }
        let _ = body;
        match self.restore_session(id, parts, permit.quota()).await {
            Ok(session) => LocatedSession::Here(session),
            Err(refusal) => refusal.into(),
        }
    }

    /// Returns whether a request names an open session of the caller.
    pub(super) fn has_session(&self, parts: &Parts) -> bool {
        matches!(
            self.lookup_session(parts, false),
            Ok(SessionLookup::Local(_))
        )
    }

    /// Returns the session a request names, if it belongs to the caller.
    pub(super) fn lookup_session(
        &self,
        parts: &Parts,
        is_initialize: bool,
    ) -> Result<SessionLookup, SessionError> {
        let named = session_from_headers(&RequestHeaders(parts), is_initialize, true)?;
        let RequestedSession::Named(id) = named else {
            return Ok(SessionLookup::NoId);
        };
        match self.sessions.get(&id) {
            Some(session) if session.principal == principal(parts) => {
                #[cfg(feature = "cluster")]
                if self
                    .cluster
                    .as_ref()
                    .is_some_and(|it| !it.is_owner(&session))
                {
                    return Ok(SessionLookup::Remote(id));
                }
                Ok(SessionLookup::Local(session))
            }
            None if self.options.session_store.is_some() => Ok(SessionLookup::Remote(id)),
            Some(_) | None => Err(SessionError::NotFound),
        }
    }

    /// Restores a session of this caller that another node, or an earlier
    /// process, had.
    pub(super) async fn restore_session(
        &self,
        id: &SessionId,
        parts: &Parts,
        quota: &Arc<ClientQuota>,
    ) -> Result<Arc<Session>, SessionError> {
        let caller = principal(parts);
        let owner = SessionOwner {
            principal: caller.clone(),
            quota: Arc::clone(quota),
        };
        let permissions = Permissions::from_extensions(&parts.extensions);
        let load = self.rebuild_session(id, owner, permissions);
        let session = self.restores.run_once(id, caller.clone(), load).await;
        // Another request may have been first.
        let session = session.filter(|session| session.principal == caller);
        session.ok_or(SessionError::NotFound)
    }

    async fn rebuild_session(
        &self,
        id: &SessionId,
        owner: SessionOwner,
        permissions: Permissions,
    ) -> Option<Arc<Session>> {
        let store = self.options.session_store.as_ref()?;
        if self.stopping().has_begun() {
            return None;
        }
        // The request that started the load may have been cancelled after the
        // session was added.
        if let Some(session) = self.sessions.get(id) {
            return Some(session);
        }
        let SessionConfig { node, seal, .. } = &self.sessions.config;
        let stored = with_store_timeout(store.get(id)).await??;
        let contents = seal.open_record(id, &stored.value)?;
        let caller = owner.principal.as_deref();
        let contents = Some(contents).filter(|it| it.principal.as_deref() == caller)?;
        // It is ours from here on: the node that had it can neither store it nor
        // remove its record.
        let taken = store.take_over(id, &stored.node, node);
        if !with_store_timeout(taken).await? {
            return None;
        }
        let session = Session::restore(self, id.clone(), owner);
        if !session.rebuild(contents, &permissions).await {
            session.close();
            return None;
        }
        let session = self.sessions.add(session).ok()?;
        session
            .refresh_stored(&**store, &self.sessions.config)
            .await;
        Some(session)
    }
}

pub(super) fn session_error_response(refusal: SessionError) -> Response<Body> {
    let status = ResponseStatus::from_u16(refusal.status(), StatusCode::BAD_REQUEST);
    response::jsonrpc_error(status, None, &refusal.to_error())
}
