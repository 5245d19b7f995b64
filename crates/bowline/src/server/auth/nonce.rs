//! Nonces for proofs (RFC 9449, 8 and 9): what a proof must repeat, so that
//! none can be made long before it is used.
//!
//! A nonce is the time at which it was given out and a mark that only we can
//! make of that time, so that nothing is kept, and nodes that share the key
//! take each other's.

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};
use zeroize::Zeroizing;

/// How long one is good for, at least. It is good for up to twice as long.
const PERIOD: Duration = Duration::from_secs(5 * 60);

/// Makes nonces, and knows them again.
pub(super) struct Nonces(hmac::Key);

impl Nonces {
    /// With a key that all nodes have which a client may reach in turn.
    pub(super) fn new(key: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// With a key of this process's own; nothing where there is no randomness
    /// to be had.
    pub(super) fn random() -> Option<Self> {
        let mut key = Zeroizing::new([0; 32]);
        SystemRandom::new().fill(&mut *key).ok()?;
        Some(Self::new(&*key))
    }

    /// The one to use now.
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

    /// Compares in a time that says nothing of how much is right.
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
