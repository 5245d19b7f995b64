//! Tokens that are bound to a key, and the proofs that it is at hand (RFC 9449).

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use http::{HeaderName, Uri, request::Parts};
use serde::Deserialize;
use tokio::time::Instant;

use super::{AccessToken, Grant, address::Address, nonce::Nonces, refused::Refused};
use crate::jose::{Compact, digest};

/// What proofs may be signed with.
pub(super) const ALGORITHMS: [&str; 5] = ["ES256", "ES384", "EdDSA", "PS256", "RS256"];

const HEADER: HeaderName = HeaderName::from_static("dpop");
/// How old a proof may be.
const WINDOW: Duration = Duration::from_secs(60);
/// How far ahead of us its maker's clock may be. A proof is remembered for as
/// much longer as it is from the future.
const LEEWAY: Duration = Duration::from_secs(10);
/// How many proofs are remembered. If more come within the window, they are
/// refused: a proof that is forgotten could be used once more.
const MOST_KEPT: usize = 100_000;
/// One principal may have one in so many of those places that are free. What it
/// may have shrinks as they fill, so that however many take all they can, there
/// is room for those who have less.
const SHARE: usize = 8;
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
    #[serde(default)]
    nonce: Option<String>,
}

/// What proofs must be like, and those that have been used.
pub(super) struct Proofs {
    /// Where they must repeat what we gave.
    nonces: Option<Nonces>,
    used: Mutex<Used>,
}

/// Proofs that have been used, until they are too old to be used again.
#[derive(Default)]
struct Used {
    /// Whose they are, by their names.
    names: HashMap<Arc<str>, Arc<str>>,
    /// The same by the time at which they can be forgotten.
    by_end: BTreeSet<(Instant, Arc<str>)>,
    /// How many each principal has.
    counts: HashMap<Arc<str>, usize>,
}

impl Proofs {
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
        let left = time_left(claims.iat);
        let left = left.ok_or(Refused::BadProof("the proof is too old, or not made yet"))?;
        let nonce = claims.nonce.as_deref().unwrap_or_default();
        if self.nonces.as_ref().is_some_and(|it| !it.knows(nonce)) {
            return Err(Refused::UseNonce);
        }
        // Names are the maker's own, so that each key has its own.
        let name = digest(format!("{key} {}", claims.jti).as_bytes());
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.add(&name, &grant.principal(), left)
    }
}

impl Used {
    /// Remembers a proof, which must be the first of that name.
    fn add(&mut self, name: &str, principal: &str, left: Duration) -> Result<(), Refused> {
        let now = Instant::now();
        self.forget(now);
        if self.names.contains_key(name) {
            return Err(Refused::BadProof("the proof was used before"));
        }
        let own = self.counts.get(principal).copied().unwrap_or_default();
        if own >= (MOST_KEPT - self.names.len()) / SHARE {
            return Err(Refused::Unavailable);
        }
        let principal = match self.counts.get_key_value(principal) {
            Some((known, _)) => Arc::clone(known),
            None => principal.into(),
        };
        let name: Arc<str> = name.into();
        *self.counts.entry(Arc::clone(&principal)).or_default() += 1;
        self.by_end.insert((now + left, Arc::clone(&name)));
        self.names.insert(name, principal);
        Ok(())
    }

    /// Forgets those that are too old to be used again.
    fn forget(&mut self, now: Instant) {
        while let Some((end, _)) = self.by_end.first()
            && *end < now
        {
            let Some((_, name)) = self.by_end.pop_first() else {
                return;
            };
            let Some(principal) = self.names.remove(&name) else {
                continue;
            };
            if let Some(count) = self.counts.get_mut(&principal) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&principal);
                }
            }
        }
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
    let authority = address.authority().map_or("", |it| it.as_str());
    // A name before the host is for people to misread.
    if authority.contains('@') {
        return false;
    }
    let path = address.path();
    resource.has_origin_of(&address) && (path == resource.path() || path == came.path())
}

/// How long a proof can still be used; nothing where it is too old, or made for
/// later.
fn time_left(made: f64) -> Option<Duration> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let age = now.unwrap_or_default().as_secs_f64() - made;
    let window = WINDOW.as_secs_f64();
    if age > window || -age > LEEWAY.as_secs_f64() {
        return None;
    }
    Duration::try_from_secs_f64(window - age).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(used: &mut Used, name: usize, principal: &str) -> Result<(), Refused> {
        used.add(&name.to_string(), principal, WINDOW)
    }

    #[tokio::test(start_paused = true)]
    async fn no_proof_is_forgotten_while_it_could_be_used_again() {
        let mut used = Used::default();
        let kept = fill(&mut used, "one", 0);
        let refused = add(&mut used, MOST_KEPT, "one");
        assert_eq!(refused, Err(Refused::Unavailable));
        for name in 0..kept {
            let again = Refused::BadProof("the proof was used before");
            assert_eq!(add(&mut used, name, "one"), Err(again));
        }
        tokio::time::advance(WINDOW + Duration::from_secs(1)).await;
        add(&mut used, MOST_KEPT, "one").expect("the others are too old");
        assert_eq!((used.names.len(), used.counts.len()), (1, 1));
    }

    /// Takes as many places as one can have; says how many.
    fn fill(used: &mut Used, principal: &str, from: usize) -> usize {
        let names = from..from + MOST_KEPT;
        let taken = names.take_while(|name| add(used, *name, principal).is_ok());
        taken.count()
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_takes_the_room_of_others() {
        let mut used = Used::default();
        for principal in 0..20 {
            fill(&mut used, &principal.to_string(), principal * MOST_KEPT);
        }
        assert!(used.names.len() <= MOST_KEPT);
        for name in 0..1000 {
            let name = 20 * MOST_KEPT + name;
            add(&mut used, name, "another").expect("there is room for others");
        }
    }

    #[test]
    fn a_proof_from_the_future_keeps_its_place_hardly_longer_than_others() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.expect("a clock").as_secs_f64();
        assert_eq!(time_left(now + 55.0), None);
        let longest = time_left(now + 9.0).expect("clocks differ");
        assert!(longest <= WINDOW + LEEWAY, "{longest:?}");
        assert_eq!(time_left(now - 61.0), None);
    }

    #[test]
    fn addresses_with_a_user_are_of_nowhere() {
        let resource = Address::parse("https://mcp.example.com/mcp").expect("an address");
        let came = Uri::from_static("/mcp");
        assert!(is_here("https://mcp.example.com/mcp?a", &came, &resource));
        for address in [
            "https://user@mcp.example.com/mcp",
            "https://user:secret@mcp.example.com/mcp",
            "https://@mcp.example.com/mcp",
        ] {
            assert!(!is_here(address, &came, &resource), "{address}");
        }
    }
}
