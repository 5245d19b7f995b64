//! Unguessable random strings.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};

use super::{AuthError, AuthErrorKind, Secret};
use crate::jose;

/// Returns a string of 256 random bits, safe in URLs and headers.
pub(super) fn random_token() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| {
        AuthError::new(
            AuthErrorKind::Key,
            "the system's random number generator failed",
        )
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A PKCE pair, which binds an authorization code to its requester: RFC 7636,
/// `S256`.
pub(super) struct Pkce {
    /// Kept secret until the code is redeemed.
    pub(super) verifier: Secret,
    /// Its digest, sent with the authorization request.
    pub(super) challenge: String,
}

impl Pkce {
    pub(super) fn new() -> Result<Self, AuthError> {
        Ok(Self::from_verifier(random_token()?))
    }

    fn from_verifier(verifier: String) -> Self {
        Self {
            challenge: jose::digest(verifier.as_bytes()),
            verifier: Secret::new(verifier),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification() {
        let pkce = Pkce::from_verifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned());
        let expected = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(pkce.challenge, expected);
    }

    #[test]
    fn texts_are_long_and_differ() {
        let (one, other) = (random_token().unwrap(), random_token().unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(one, other);
    }
}
