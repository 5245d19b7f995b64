//! A received token in the compact serialization of RFC 7515.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Algorithm, JoseError, PublicKey, base64url};

/// Maximum size of a token: more than servers accept for a whole request head.
const MAX_TOKEN: usize = 16 * 1024;

/// A parsed token. Its payload is available only through
/// [`verify`](Self::verify).
pub(crate) struct CompactJws<'a> {
    signing_input: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
    header: Header,
}

/// The header of a token. URLs of keys that it may contain are not even read.
#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    crit: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    jwk: Option<Box<RawValue>>,
}

impl<'a> CompactJws<'a> {
    /// Parses a token.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JoseError> {
        if token.len() > MAX_TOKEN {
            return Err(JoseError::TooLarge);
        }
        let malformed = JoseError::Malformed("the token does not have three parts");
        let (signing_input, signature) = token.rsplit_once('.').ok_or(malformed)?;
        let (header, payload) = signing_input.split_once('.').ok_or(malformed)?;
        if payload.contains('.') {
            return Err(malformed);
        }
        let header = base64url::decode(header)?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|_| JoseError::Malformed("the token has an invalid header"))?;
        if header.crit.is_some() {
            // None of the critical extensions is supported.
            return Err(JoseError::Unsupported(
                "the token has unsupported critical extensions",
            ));
        }
        Ok(Self {
            signing_input,
            payload,
            signature: base64url::decode(signature)?,
            header,
        })
    }

    /// Returns the algorithm in the header, if it is supported. It is used to
    /// find keys, which must match it.
    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::from_name(&self.header.alg)
    }

    /// Returns the key id in the header.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Returns the unverified issuer. Only for finding the keys that can verify
    /// it.
    pub(crate) fn claimed_issuer(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Claimed {
            iss: String,
        }
        let payload = base64url::decode(self.payload).ok()?;
        let claimed = serde_json::from_slice::<Claimed>(&payload);
        claimed.ok().map(|claimed| claimed.iss)
    }

    /// Returns the type in the header.
    pub(crate) fn typ(&self) -> Option<&str> {
        self.header.typ.as_deref()
    }

    /// Returns the key in the header. It only proves that the signer holds its
    /// private part.
    pub(crate) fn embedded_key(&self) -> Option<Result<PublicKey, JoseError>> {
        let jwk = self.header.jwk.as_ref()?;
        Some(PublicKey::from_jwk(jwk.get()))
    }

    /// Returns the payload, if the token was signed by this key.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<Vec<u8>, JoseError> {
        if self.algorithm() != Some(key.algorithm()) {
            return Err(JoseError::Unsupported(
                "the key is for another algorithm than the token",
            ));
        }
        key.verify(self.signing_input.as_bytes(), &self.signature)?;
        base64url::decode(self.payload)
    }
}
