//! Tokens that are bound to a key, and the proofs that it is at hand (RFC 9449).

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::{HeaderName, Uri, request::Parts};
use serde::Deserialize;
use tokio::time::Instant;

use super::{AccessToken, address::Address, refused::Refused};
use crate::jose::{Compact, digest};

/// What proofs may be signed with.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];

const HEADER: HeaderName = HeaderName::from_static("dpop");
/// How old a proof may be, and how far ahead of us its maker's clock.
const WINDOW: Duration = Duration::from_secs(60);
/// How many proofs are remembered. If more come within the window, the oldest
/// are forgotten first.
const MOST_KEPT: usize = 100_000;
/// The longest name of a proof.
const LONGEST_NAME: usize = 256;

/// What a proof says.
#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: f64,
    ath: String,
}

/// The proofs that have been used.
#[derive(Default)]
pub(super) struct Proofs {
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    names: HashSet<String>,
    order: VecDeque<(Instant, String)>,
}

impl Proofs {
    /// Checks the proof that a request brings: that it was made for this
    /// request and this token, now, by the key that the token is bound to; and
    /// that it was not used before. It is taken out of the request.
    pub(super) fn check(
        &self,
        parts: &mut Parts,
        (token, key): (AccessToken<'_>, &str),
        resource: &Address,
    ) -> Result<(), Refused> {
        let http::header::Entry::Occupied(entry) = parts.headers.entry(HEADER) else {
            return Err(Refused::BadProof("there is no proof"));
        };
        let values: Vec<_> = entry.remove_entry_mult().1.collect();
        let [proof] = &values[..] else {
            return Err(Refused::BadProof("there is more than one proof"));
        };
        let unread = Refused::BadProof("the proof cannot be read");
        let proof = proof.to_str().map_err(|_| unread.clone())?;
        let claims = read(proof, key)?;
        if claims.htm != parts.method.as_str() || !is_here(&claims.htu, &parts.uri, resource) {
            return Err(Refused::BadProof("the proof is for another request"));
        }
        if claims.ath != digest(token.secret().as_bytes()) {
            return Err(Refused::BadProof("the proof is for another token"));
        }
        if !is_recent(claims.iat) {
            return Err(Refused::BadProof("the proof is too old, or not made yet"));
        }
        // Names are the maker's own, so that each key has its own.
        let name = digest(format!("{key} {}", claims.jti).as_bytes());
        if !self.is_first(name) {
            return Err(Refused::BadProof("the proof was used before"));
        }
        Ok(())
    }

    /// Remembers a proof. Says whether it is the first of that name.
    fn is_first(&self, name: String) -> bool {
        let now = Instant::now();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((since, _)) = used.order.front() {
            // Both ends of the window: a proof may be made ahead of time.
            if now - *since < 2 * WINDOW && used.order.len() < MOST_KEPT {
                break;
            }
            if let Some((_, old)) = used.order.pop_front() {
                used.names.remove(&old);
            }
        }
        if !used.names.insert(name.clone()) {
            return false;
        }
        used.order.push_back((now, name));
        true
    }
}

/// What a proof says, if it is one by this key.
fn read(proof: &str, key: &str) -> Result<Claims, Refused> {
    let unread = Refused::BadProof("the proof cannot be read");
    let proof = Compact::read(proof).map_err(|_| unread.clone())?;
    if proof.kind() != Some("dpop+jwt") {
        return Err(Refused::BadProof("it is not a proof"));
    }
    let own = proof.own_key().and_then(Result::ok).ok_or(unread.clone())?;
    if own.thumbprint() != key {
        return Err(Refused::BadProof("the proof is by another key"));
    }
    let said = proof.verify(&own);
    let said = said.map_err(|_| Refused::BadProof("the proof is not signed by its key"))?;
    let claims: Claims = serde_json::from_slice(&said).map_err(|_| unread.clone())?;
    if claims.jti.is_empty() || claims.jti.len() > LONGEST_NAME {
        return Err(unread);
    }
    Ok(claims)
}

/// Whether a proof's address is that of this request. Which address the client
/// used, proxies may hide; that of the resource is known, and so is the path
/// that came through.
fn is_here(address: &str, came: &Uri, resource: &Address) -> bool {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Ok(address) = address.parse::<Uri>() else {
        return false;
    };
    let path = address.path();
    resource.has_origin_of(&address) && (path == resource.path() || path == came.path())
}

fn is_recent(made: f64) -> bool {
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_secs_f64();
    (now - made).abs() <= WINDOW.as_secs_f64()
}
