//! Tokens that are bound to a key, and the proofs that it is at hand (RFC 9449).

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use http::{HeaderName, Uri, request::Parts};
use serde::Deserialize;
use tokio::time::Instant;

use super::{AccessToken, Grant, https_url::HttpsUrl, nonce::Nonces, rejection::AuthRejection};
use crate::jose::{CompactJws, digest};

/// What proofs may be signed with.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];

const DPOP_HEADER: HeaderName = HeaderName::from_static("dpop");
/// How old a proof may be.
const PROOF_LIFETIME: Duration = Duration::from_secs(60);
/// How far ahead of us its maker's clock may be. A proof is remembered for as
/// much longer as it is from the future.
const LEEWAY: Duration = Duration::from_secs(10);
/// How many proofs are remembered. If more come within the window, they are
/// refused: a proof that is forgotten could be used once more.
const MAX_USED_PROOFS: usize = 100_000;
/// One principal may have one in so many of those places that are free. What it
/// may have shrinks as they fill, so that however many take all they can, there
/// is room for those who have less.
const PRINCIPAL_SHARE_DIVISOR: usize = 8;
/// The longest name of a proof.
const MAX_JTI_BYTES: usize = 256;

/// What a proof says.
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

/// What proofs must be like, and those that have been used.
pub(super) struct ProofChecker {
    /// Where they must repeat what we gave.
    nonces: Option<Nonces>,
    used: Mutex<UsedProofs>,
}

/// Proofs that have been used, until they are too old to be used again.
#[derive(Default)]
struct UsedProofs {
    /// Whose they are, by their names.
    by_jti: HashMap<Arc<str>, Arc<str>>,
    /// The same by the time at which they can be forgotten.
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    /// How many each principal has.
    count_by_principal: HashMap<Arc<str>, usize>,
}

impl ProofChecker {
    pub(super) fn new(nonces: Option<Nonces>) -> Self {
        Self {
            nonces,
            used: Mutex::default(),
        }
    }

    /// The nonce that proofs must have now, if they must have one.
    pub(super) fn nonce(&self) -> Option<String> {
        self.nonces.as_ref().map(Nonces::current)
    }

    /// Checks the proof that a request brings: that it was made for this
    /// request and this token, now, by the key that the token is bound to; and
    /// that it was not used before. It is taken out of the request.
    pub(super) fn check(
        &self,
        parts: &mut Parts,
        (token, grant, key): (AccessToken<'_>, &Grant, &str),
        resource: &HttpsUrl,
    ) -> Result<(), AuthRejection> {
        let http::header::Entry::Occupied(entry) = parts.headers.entry(DPOP_HEADER) else {
            return Err(AuthRejection::InvalidProof("there is no proof"));
        };
        let values: Vec<_> = entry.remove_entry_mult().1.collect();
        let [proof] = &values[..] else {
            return Err(AuthRejection::InvalidProof("there is more than one proof"));
        };
        let unreadable = AuthRejection::InvalidProof("the proof cannot be read");
        let proof = proof.to_str().map_err(|_| unreadable.clone())?;
        let claims = verify_proof(proof, key)?;
        if claims.htm != parts.method.as_str() || !is_same_target(&claims.htu, &parts.uri, resource)
        {
            return Err(AuthRejection::InvalidProof(
                "the proof is for another request",
            ));
        }
        if claims.ath != digest(token.secret().as_bytes()) {
            return Err(AuthRejection::InvalidProof(
                "the proof is for another token",
            ));
        }
        let left = remaining_lifetime(claims.iat);
        let left = left.ok_or(AuthRejection::InvalidProof(
            "the proof is too old, or not made yet",
        ))?;
        let nonce = claims.nonce.as_deref().unwrap_or_default();
        if self.nonces.as_ref().is_some_and(|it| !it.is_valid(nonce)) {
            return Err(AuthRejection::UseNonce);
        }
        // Names are the maker's own, so that each key has its own.
        let name = digest(format!("{key} {}", claims.jti).as_bytes());
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.add(&name, &grant.principal(), left)
    }
}

impl UsedProofs {
    /// Remembers a proof, which must be the first of that name.
    fn add(&mut self, name: &str, principal: &str, left: Duration) -> Result<(), AuthRejection> {
        let now = Instant::now();
        self.remove_expired(now);
        if self.by_jti.contains_key(name) {
            return Err(AuthRejection::InvalidProof("the proof was used before"));
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

    /// Forgets those that are too old to be used again.
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

/// What a proof says, if it is one by this key.
fn verify_proof(proof: &str, key: &str) -> Result<Claims, AuthRejection> {
    let unreadable = AuthRejection::InvalidProof("the proof cannot be read");
    let proof = CompactJws::parse(proof).map_err(|_| unreadable.clone())?;
    if proof.typ() != Some("dpop+jwt") {
        return Err(AuthRejection::InvalidProof("it is not a proof"));
    }
    let embedded_key = proof
        .embedded_key()
        .and_then(Result::ok)
        .ok_or(unreadable.clone())?;
    if embedded_key.thumbprint() != key {
        return Err(AuthRejection::InvalidProof("the proof is by another key"));
    }
    let payload = proof.verify(&embedded_key);
    let payload =
        payload.map_err(|_| AuthRejection::InvalidProof("the proof is not signed by its key"))?;
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| unreadable.clone())?;
    if claims.jti.is_empty() || claims.jti.len() > MAX_JTI_BYTES {
        return Err(unreadable);
    }
    Ok(claims)
}

/// Whether a proof's address is that of this request. Which address the client
/// used, proxies may hide; that of the resource is known, and so is the path
/// that came through.
fn is_same_target(htu: &str, request_uri: &Uri, resource: &HttpsUrl) -> bool {
    let htu = htu.split(['?', '#']).next().unwrap_or_default();
    let Ok(htu) = htu.parse::<Uri>() else {
        return false;
    };
    let authority = htu.authority().map_or("", |it| it.as_str());
    // A name before the host is for people to misread.
    if authority.contains('@') {
        return false;
    }
    let path = htu.path();
    resource.is_same_origin(&htu) && (path == resource.path() || path == request_uri.path())
}

/// How long a proof can still be used; nothing where it is too old, or made for
/// later.
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
            let again = AuthRejection::InvalidProof("the proof was used before");
            assert_eq!(add(&mut used, name, "one"), Err(again));
        }
        tokio::time::advance(PROOF_LIFETIME + Duration::from_secs(1)).await;
        add(&mut used, MAX_USED_PROOFS, "one").expect("the others are too old");
        assert_eq!((used.by_jti.len(), used.count_by_principal.len()), (1, 1));
    }

    /// Takes as many places as one can have; says how many.
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
