//! Requests that another node forwarded: who sent them, sealed.

use std::{
    collections::HashSet,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, request::Parts};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::super::{
    Body, Inner, PeerAddr, Principal, admission::invalid_request_response, post::principal,
};
use crate::{
    proto::http::SessionId,
    server::{
        auth::permissions::{Permissions, StoredPermissions},
        replay::journal::{digest, hex},
        seal::{SealKeys, random_bytes},
    },
    sync,
};

/// The header that marks a forwarded request.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("bowline-forwarded");

/// How long a forwarded request may take to arrive, differences of clocks included.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Seals the senders of forwarded requests, and opens those of other nodes.
pub(super) struct ForwardSeal {
    keys: SealKeys,
    purpose: [u8; 32],
    received: Mutex<ReceivedIds>,
}

/// What the node that received a request knows of it.
#[derive(Serialize, Deserialize)]
struct Envelope {
    /// A random id: a request is accepted once.
    id: String,
    /// When it was sealed, in seconds since 1970.
    sealed_at: u64,
    method: String,
    session: String,
    body_digest: String,
    principal: Option<String>,
    permissions: StoredPermissions,
    peer: Option<IpAddr>,
}

/// Marks a request that another node forwarded; in its extensions.
#[derive(Clone)]
pub(in super::super) struct ForwardedRequest {
    body_digest: Arc<str>,
}

impl ForwardedRequest {
    /// Returns the mark of a request, if it was forwarded.
    pub(in super::super) fn of(parts: &Parts) -> Option<&Self> {
        parts.extensions.get()
    }

    /// Returns whether the body is the one that was forwarded.
    pub(in super::super) fn has_body(&self, body: &[u8]) -> bool {
        *self.body_digest == *digest_of(body)
    }
}

fn digest_of(body: &[u8]) -> String {
    hex(&digest([body]))
}

impl ForwardSeal {
    /// Returns the seal, or `None` if the keys are those of this process only.
    pub(super) fn new(keys: &SealKeys, server_name: &str) -> Option<Self> {
        keys.is_shared().then(|| Self {
            keys: keys.clone(),
            purpose: digest([b"forwarded request", server_name.as_bytes()]),
            received: Mutex::default(),
        })
    }

    /// Returns the header for a request to a session.
    pub(super) fn seal(
        &self,
        parts: &Parts,
        session: &SessionId,
        body: &Bytes,
        peer: Option<IpAddr>,
    ) -> Option<HeaderValue> {
        let envelope = Envelope {
            id: hex(&random_bytes::<16>()),
            sealed_at: unix_seconds(),
            method: parts.method.as_str().to_owned(),
            session: session.as_str().to_owned(),
            body_digest: digest_of(body),
            principal: principal(parts).as_deref().map(ToOwned::to_owned),
            permissions: Permissions::from_extensions(&parts.extensions).to_stored(),
            peer,
        };
        let plain = serde_json::to_vec(&envelope).ok()?;
        let sealed = self.keys.seal(&self.purpose, &plain);
        HeaderValue::try_from(sealed).ok()
    }

    /// Opens a header. Each opens once, for its own request and for a short time.
    fn open(&self, method: &Method, session: &str, header: &HeaderValue) -> Option<Envelope> {
        let plain = self.keys.open(&self.purpose, header.to_str().ok()?).ok()?;
        let envelope: Envelope = serde_json::from_slice(&plain).ok()?;
        let is_recent = unix_seconds().abs_diff(envelope.sealed_at) <= MAX_AGE.as_secs();
        let is_same = envelope.method == method.as_str() && envelope.session == session;
        (is_recent && is_same && self.is_first(&envelope.id)).then_some(envelope)
    }

    fn is_first(&self, id: &str) -> bool {
        sync::lock(&self.received).insert(id, Instant::now())
    }
}

/// The ids of requests received lately, in two halves, of which the older one is dropped
/// once nothing in it can be accepted any more. Only nodes with the secret can add to it.
#[derive(Default)]
struct ReceivedIds {
    newer: HashSet<Box<str>>,
    older: HashSet<Box<str>>,
    since: Option<Instant>,
}

impl ReceivedIds {
    /// Adds an id. Returns whether it is new.
    fn insert(&mut self, id: &str, now: Instant) -> bool {
        // A request may be dated in the future, too.
        let age = self.since.map(|since| now.duration_since(since));
        if age.is_none_or(|age| age > 2 * MAX_AGE) {
            self.older = std::mem::take(&mut self.newer);
            self.since = Some(now);
        }
        !self.older.contains(id) && self.newer.insert(id.into())
    }
}

fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// Admits a request that another node has admitted, with the sender that this node names.
/// Returns whether it is one, or the response if it is not genuine.
pub(in super::super) fn admit_forwarded(
    inner: &Inner,
    parts: &mut Parts,
) -> Result<bool, Box<Response<Body>>> {
    let Some(cluster) = &inner.cluster else {
        return Ok(false);
    };
    let Some(header) = parts.headers.remove(FORWARDED) else {
        return Ok(false);
    };
    let session = parts
        .headers
        .get(crate::proto::http::header::name::MCP_SESSION_ID);
    let session = session.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let Some(envelope) = cluster.seal.open(&parts.method, session, &header) else {
        let why = "the header bowline-forwarded is only for nodes of this server";
        return Err(Box::new(invalid_request_response(
            StatusCode::FORBIDDEN,
            why,
        )));
    };
    let extensions = &mut parts.extensions;
    if let Some(principal) = envelope.principal {
        extensions.insert(Principal(principal.into()));
    }
    let permissions = envelope.permissions.into_permissions();
    if let Some(claims) = permissions.claims() {
        let claims = claims.clone();
        #[cfg(feature = "auth")]
        let claims = match &inner.options.protection {
            Some(protection) => protection.with_implied_scopes(claims),
            None => claims,
        };
        extensions.insert(claims);
    }
    if let Some(peer) = envelope.peer {
        extensions.insert(PeerAddr(peer));
    }
    extensions.insert(ForwardedRequest {
        body_digest: envelope.body_digest.into(),
    });
    Ok(true)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn seal(secret: u8) -> ForwardSeal {
        let keys = SealKeys::from_secret(&[secret; 32]).expect("it is long enough");
        ForwardSeal::new(&keys, "travel").expect("they are shared")
    }

    fn sealed(seal: &ForwardSeal) -> HeaderValue {
        let (parts, ()) = Request::post("/mcp")
            .body(())
            .expect("a request")
            .into_parts();
        let session = SessionId::new("s1").expect("an id");
        let body = Bytes::from_static(b"{}");
        seal.seal(&parts, &session, &body, None).expect("a header")
    }

    #[test]
    fn a_forwarded_request_is_accepted_once() {
        let (sender, receiver) = (seal(1), seal(1));
        let header = sealed(&sender);
        let opened = receiver.open(&Method::POST, "s1", &header);
        assert_eq!(opened.expect("it is genuine").body_digest, digest_of(b"{}"));
        assert!(receiver.open(&Method::POST, "s1", &header).is_none());
    }

    #[test]
    fn a_header_of_another_request_is_refused() {
        let (sender, receiver) = (seal(1), seal(1));
        let header = sealed(&sender);
        assert!(receiver.open(&Method::DELETE, "s1", &header).is_none());
        assert!(receiver.open(&Method::POST, "s2", &header).is_none());
        assert!(seal(2).open(&Method::POST, "s1", &header).is_none());
        let forged = HeaderValue::from_static("e30");
        assert!(receiver.open(&Method::POST, "s1", &forged).is_none());
        assert!(receiver.open(&Method::POST, "s1", &header).is_some());
    }

    #[test]
    fn ids_are_remembered_as_long_as_they_could_be_used_again() {
        let mut ids = ReceivedIds::default();
        let start = Instant::now();
        assert!(ids.insert("a", start));
        assert!(!ids.insert("a", start + MAX_AGE));
        assert!(!ids.insert("a", start + 2 * MAX_AGE + Duration::from_secs(1)));
        for round in 2..6 {
            ids.insert(&round.to_string(), start + round * 3 * MAX_AGE);
        }
        assert!(
            ids.newer.len() + ids.older.len() <= 2,
            "old ones are dropped"
        );
    }
}
