//! Nonces for DPoP proofs (RFC 9449, 8 and 9). A proof must contain one, so it
//! cannot be made long before it is used.
//!
//! A nonce is the time it was issued plus an HMAC of that time. So nothing is
//! stored, and nodes that share the key accept each other's nonces.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};
use zeroize::Zeroizing;

/// How long a nonce is valid at least. It is valid for up to twice as long.
const PERIOD: Duration = Duration::from_secs(5 * 60);

/// Issues and checks nonces.
pub(super) struct Nonces(hmac::Key);

impl Nonces {
    /// Uses a key shared by all nodes that a client may reach.
    pub(super) fn new(key: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// Uses a random key for this process, or returns `None` if the system has
    /// no randomness.
    pub(super) fn random() -> Option<Self> {
        let mut key = Zeroizing::new([0; 32]);
        SystemRandom::new().fill(&mut *key).ok()?;
        Some(Self::new(&*key))
    }

    /// Returns the current nonce.
    pub(super) fn current(&self) -> String {
        self.for_period(period())
    }

    pub(super) fn is_valid(&self, nonce: &str) -> bool {
        let now = period();
        [now, now.saturating_sub(1)]
            .into_iter()
            .any(|period| self.matches_period(period, nonce))
    }

    fn for_period(&self, period: u64) -> String {
        let tag = hmac::sign(&self.0, &period.to_be_bytes());
        URL_SAFE_NO_PAD.encode(tag)
    }

    /// Compares in constant time.
    fn matches_period(&self, period: u64, nonce: &str) -> bool {
        let tag = URL_SAFE_NO_PAD.decode(nonce).unwrap_or_default();
        hmac::verify(&self.0, &period.to_be_bytes(), &tag).is_ok()
    }
}

fn period() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs() / PERIOD.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_good_for_a_while_and_on_nodes_with_the_same_key() {
        let (one, twin) = (
            Nonces::new(b"a key of nodes"),
            Nonces::new(b"a key of nodes"),
        );
        let now = period();
        assert!(twin.is_valid(&one.current()));
        assert!(twin.is_valid(&one.for_period(now - 1)));
        for nonce in [
            one.for_period(now - 2),
            one.for_period(now + 2),
            String::new(),
            "x".repeat(43),
        ] {
            assert!(!twin.is_valid(&nonce), "{nonce}");
        }
        let other = Nonces::random().expect("random numbers");
        assert!(!other.is_valid(&one.current()));
    }
}
