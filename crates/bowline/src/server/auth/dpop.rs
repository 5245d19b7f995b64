//! DPoP (RFC 9449): tokens bound to a key, and proofs of possession of that
//! key.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use http::{HeaderName, Uri, request::Parts};
use serde::Deserialize;

use super::{
    AccessToken, TokenClaims,
    https_url::HttpsUrl,
    nonce::Nonces,
    rejection::AuthRejection,
    used_proofs::{MemoryUsedProofStore, ProofOutcome, UsedProof, UsedProofStore},
};
use crate::jose::{CompactJws, digest};

/// The signature algorithms proofs may use.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];

const DPOP_HEADER: HeaderName = HeaderName::from_static("dpop");
/// The maximum age of a proof.
const PROOF_LIFETIME: Duration = Duration::from_secs(60);
/// How far the client's clock may be ahead. A proof from the future is
/// remembered for that much longer.
const LEEWAY: Duration = Duration::from_secs(10);
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
    used: OnceLock<Arc<dyn UsedProofStore>>,
}

impl ProofChecker {
    pub(super) fn new(nonces: Option<Nonces>) -> Self {
        Self {
            nonces,
            used: OnceLock::new(),
        }
    }

    /// Sets the store of used proofs, unless it has one.
    pub(super) fn set_store(&self, store: Arc<dyn UsedProofStore>) {
        let _ = self.used.set(store);
    }

    fn used(&self) -> &dyn UsedProofStore {
        let memory = || -> Arc<dyn UsedProofStore> { Arc::new(MemoryUsedProofStore::new()) };
        &**self.used.get_or_init(memory)
    }

    /// Returns the nonce that proofs must contain now, if one is required.
    pub(super) fn nonce(&self) -> Option<String> {
        self.nonces.as_ref().map(Nonces::current)
    }

    /// Checks the proof of a request: that it was made for this request and
    /// this token, now, by the key the token is bound to, and that it was not
    /// used before. It is removed from the request.
    pub(super) async fn check(
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
        let id = digest(format!("{key} {}", claims.jti).as_bytes());
        let account = digest(token_claims.principal().as_bytes());
        let proof = UsedProof::new(&id, &account, left);
        match self.used().insert(proof).await {
            Ok(ProofOutcome::New) => Ok(()),
            Ok(ProofOutcome::Used) => {
                Err(AuthRejection::InvalidProof("the proof was already used"))
            }
            Err(_) => Err(AuthRejection::Unavailable),
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
