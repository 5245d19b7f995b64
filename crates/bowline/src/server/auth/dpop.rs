//! DPoP (RFC 9449): tokens bound to a key, and proofs of possession of that
//! key.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use http::{HeaderName, Uri, request::Parts};
use serde::Deserialize;
use tokio::time::Instant;

use super::{
    AccessToken, TokenClaims, https_url::HttpsUrl, nonce::Nonces, rejection::AuthRejection,
};
use crate::{
    jose::{CompactJws, digest},
    sync,
};

/// The signature algorithms proofs may use.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];

const DPOP_HEADER: HeaderName = HeaderName::from_static("dpop");
/// The maximum age of a proof.
const PROOF_LIFETIME: Duration = Duration::from_secs(60);
/// How far the client's clock may be ahead. A proof from the future is
/// remembered for that much longer.
const LEEWAY: Duration = Duration::from_secs(10);
/// The maximum number of proofs remembered. Beyond that, proofs are rejected: a
/// forgotten proof could be replayed.
const MAX_USED_PROOFS: usize = 100_000;
/// One principal may use one in this many of the free places. Its share shrinks
/// as they fill, so principals with less always find room.
const PRINCIPAL_SHARE_DIVISOR: usize = 8;
/// The maximum length of a proof's `jti`.
const MAX_JTI_BYTES: usize = 256;

/// The claims of a proof.
#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    ath: String,
    #[serde(default)]
    nonce: Option<String>,
}

/// The requirements for proofs, and the proofs already used.
pub(super) struct ProofChecker {
    /// The nonces proofs must contain, if required.
    nonces: Option<Nonces>,
    used: Mutex<UsedProofs>,
}

/// Used proofs, kept until they are too old to be used again.
#[derive(Default)]
struct UsedProofs {
    /// Their principals, by `jti`.
    by_jti: HashMap<Arc<str>, Arc<str>>,
    /// The same proofs, ordered by the time they can be forgotten.
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    /// The number of proofs per principal.
    count_by_principal: HashMap<Arc<str>, usize>,
}

impl ProofChecker {
    pub(super) fn new(nonces: Option<Nonces>) -> Self {
        Self {
            nonces,
            used: Mutex::default(),
        }
    }

    /// Returns the nonce that proofs must contain now, if one is required.
    pub(super) fn nonce(&self) -> Option<String> {
        self.nonces.as_ref().map(Nonces::current)
    }

    /// Checks the proof of a request: that it was made for this request and
    /// this token, now, by the key the token is bound to, and that it was not
    /// used before. It is removed from the request.
    pub(super) fn check(
        &self,
        parts: &mut Parts,
        (token, token_claims, key): (AccessToken<'_>, &TokenClaims, &str),
        resource: &HttpsUrl,
    ) -> Result<(), AuthRejection> {
        let http::header::Entry::Occupied(entry) = parts.headers.entry(DPOP_HEADER) else {
            return Err(AuthRejection::InvalidProof("the DPoP header is missing"));
        };
        let values: Vec<_> = entry.remove_entry_mult().1.collect();
        let [proof] = &values[..] else {
            return Err(AuthRejection::InvalidProof(
                "there is more than one DPoP header",
            ));
        };
        let unreadable = AuthRejection::InvalidProof("the proof is malformed");
        let proof = proof.to_str().map_err(|_| unreadable.clone())?;
        let claims = verify_proof(proof, key)?;
        if claims.htm != parts.method.as_str() || !is_same_target(&claims.htu, &parts.uri, resource)
        {
            return Err(AuthRejection::InvalidProof(
                "the proof was made for another request",
            ));
        }
        if claims.ath != digest(token.secret().as_bytes()) {
            return Err(AuthRejection::InvalidProof(
                "the proof was made for another token",
            ));
        }
        let left = remaining_lifetime(claims.iat);
        let left = left.ok_or(AuthRejection::InvalidProof(
            "the proof has expired or is not valid yet",
        ))?;
        let nonce = claims.nonce.as_deref().unwrap_or_default();
        if self.nonces.as_ref().is_some_and(|it| !it.is_valid(nonce)) {
            return Err(AuthRejection::UseNonce);
        }
        // Clients choose the `jti`, so it is unique only per key.
        let name = digest(format!("{key} {}", claims.jti).as_bytes());
        let mut used = sync::lock(&self.used);
        used.add(&name, &token_claims.principal(), left)
    }
}

impl UsedProofs {
    /// Remembers a proof. Fails if one of that name is already known.
    fn add(&mut self, name: &str, principal: &str, left: Duration) -> Result<(), AuthRejection> {
        let now = Instant::now();
        self.remove_expired(now);
        if self.by_jti.contains_key(name) {
            return Err(AuthRejection::InvalidProof("the proof was already used"));
        }
        let count = self
            .count_by_principal
            .get(principal)
            .copied()
            .unwrap_or_default();
        if count >= (MAX_USED_PROOFS - self.by_jti.len()) / PRINCIPAL_SHARE_DIVISOR {
            return Err(AuthRejection::Unavailable);
        }
        let principal = match self.count_by_principal.get_key_value(principal) {
            Some((known, _)) => Arc::clone(known),
            None => principal.into(),
        };
        let name: Arc<str> = name.into();
        *self
            .count_by_principal
            .entry(Arc::clone(&principal))
            .or_default() += 1;
        self.by_expiry.insert((now + left, Arc::clone(&name)));
        self.by_jti.insert(name, principal);
        Ok(())
    }

    /// Removes proofs that are too old to be used again.
    fn remove_expired(&mut self, now: Instant) {
        while let Some((end, _)) = self.by_expiry.first()
            && *end < now
        {
            let Some((_, name)) = self.by_expiry.pop_first() else {
                return;
            };
            let Some(principal) = self.by_jti.remove(&name) else {
                continue;
            };
            if let Some(count) = self.count_by_principal.get_mut(&principal) {
                *count -= 1;
                if *count == 0 {
                    self.count_by_principal.remove(&principal);
                }
            }
        }
    }
}

/// Verifies a proof with this key and returns its claims.
fn verify_proof(proof: &str, key: &str) -> Result<Claims, AuthRejection> {
    let unreadable = AuthRejection::InvalidProof("the proof is malformed");
    let proof = CompactJws::parse(proof).map_err(|_| unreadable.clone())?;
    if proof.typ() != Some("dpop+jwt") {
        return Err(AuthRejection::InvalidProof(
            "the type of the proof is not dpop+jwt",
        ));
    }
    let embedded_key = proof
        .embedded_key()
        .and_then(Result::ok)
        .ok_or(unreadable.clone())?;
    if embedded_key.thumbprint() != key {
        return Err(AuthRejection::InvalidProof(
            "the proof was signed by another key",
        ));
    }
    let payload = proof.verify(&embedded_key);
    let payload = payload
        .map_err(|_| AuthRejection::InvalidProof("the signature of the proof is invalid"))?;
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| unreadable.clone())?;
    if claims.jti.is_empty() || claims.jti.len() > MAX_JTI_BYTES {
        return Err(unreadable);
    }
    Ok(claims)
}

/// Returns whether a proof's `htu` matches this request. Proxies may hide the
/// address the client used, so the resource's address and the path of the
/// request are compared.
fn is_same_target(htu: &str, request_uri: &Uri, resource: &HttpsUrl) -> bool {
    let htu = htu.split(['?', '#']).next().unwrap_or_default();
    let Ok(htu) = htu.parse::<Uri>() else {
        return false;
    };
    let authority = htu.authority().map_or("", |it| it.as_str());
    // User information before the host can mislead readers.
    if authority.contains('@') {
        return false;
    }
    let path = htu.path();
    resource.is_same_origin(&htu) && (path == resource.path() || path == request_uri.path())
}

/// Returns how long a proof remains valid, or `None` if it is too old or from
/// the future.
fn remaining_lifetime(issued_at: f64) -> Option<Duration> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let age = now.unwrap_or_default().as_secs_f64() - issued_at;
    let window = PROOF_LIFETIME.as_secs_f64();
    if age > window || -age > LEEWAY.as_secs_f64() {
        return None;
    }
    Duration::try_from_secs_f64(window - age).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(used: &mut UsedProofs, name: usize, principal: &str) -> Result<(), AuthRejection> {
        used.add(&name.to_string(), principal, PROOF_LIFETIME)
    }

    #[tokio::test(start_paused = true)]
    async fn no_proof_is_forgotten_while_it_could_be_used_again() {
        let mut used = UsedProofs::default();
        let kept = fill(&mut used, "one", 0);
        let refused = add(&mut used, MAX_USED_PROOFS, "one");
        assert_eq!(refused, Err(AuthRejection::Unavailable));
        for name in 0..kept {
            let again = AuthRejection::InvalidProof("the proof was already used");
            assert_eq!(add(&mut used, name, "one"), Err(again));
        }
        tokio::time::advance(PROOF_LIFETIME + Duration::from_secs(1)).await;
        add(&mut used, MAX_USED_PROOFS, "one").expect("the others are too old");
        assert_eq!((used.by_jti.len(), used.count_by_principal.len()), (1, 1));
    }

    /// Takes as many places as possible and returns how many.
    fn fill(used: &mut UsedProofs, principal: &str, from: usize) -> usize {
        let names = from..from + MAX_USED_PROOFS;
        let taken = names.take_while(|name| add(used, *name, principal).is_ok());
        taken.count()
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_takes_the_room_of_others() {
        let mut used = UsedProofs::default();
        for principal in 0..20 {
            fill(
                &mut used,
                &principal.to_string(),
                principal * MAX_USED_PROOFS,
            );
        }
        assert!(used.by_jti.len() <= MAX_USED_PROOFS);
        for name in 0..1000 {
            let name = 20 * MAX_USED_PROOFS + name;
            add(&mut used, name, "another").expect("there is room for others");
        }
    }

    #[test]
    fn a_proof_from_the_future_keeps_its_place_hardly_longer_than_others() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.expect("a clock").as_secs_f64();
        assert_eq!(remaining_lifetime(now + 55.0), None);
        let longest = remaining_lifetime(now + 9.0).expect("clocks differ");
        assert!(longest <= PROOF_LIFETIME + LEEWAY, "{longest:?}");
        assert_eq!(remaining_lifetime(now - 61.0), None);
    }

    #[test]
    fn addresses_with_a_user_are_of_nowhere() {
        let resource = HttpsUrl::parse("https://mcp.example.com/mcp").expect("an address");
        let request_uri = Uri::from_static("/mcp");
        assert!(is_same_target(
            "https://mcp.example.com/mcp?a",
            &request_uri,
            &resource
        ));
        for htu in [
            "https://user@mcp.example.com/mcp",
            "https://user:secret@mcp.example.com/mcp",
            "https://@mcp.example.com/mcp",
        ] {
            assert!(!is_same_target(htu, &request_uri, &resource), "{htu}");
        }
    }
}
