//! A token that somebody brought, in the compact form of RFC 7515.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Algorithm, JoseError, PublicKey, base64url};

/// The largest token: more than servers take for a whole head.
const MAX_TOKEN: usize = 16 * 1024;

/// A token, taken apart. What it says can be had from
/// [`verify`](Self::verify) only.
pub(crate) struct CompactJws<'a> {
    signing_input: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
    header: Header,
}

/// What a token says about itself. Addresses of keys that it may give too are
/// not even read.
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
    /// Takes a token apart.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JoseError> {
        if token.len() > MAX_TOKEN {
            return Err(JoseError::TooLarge);
        }
        let malformed = JoseError::Malformed("a token has three parts");
        let (signing_input, signature) = token.rsplit_once('.').ok_or(malformed)?;
        let (header, payload) = signing_input.split_once('.').ok_or(malformed)?;
        if payload.contains('.') {
            return Err(malformed);
        }
        let header = base64url::decode(header)?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|_| JoseError::Malformed("the token's header is not what it should be"))?;
        if header.crit.is_some() {
            // None of the extensions that one must understand is known here.
            return Err(JoseError::Unsupported("the token has critical extensions"));
        }
        Ok(Self {
            signing_input,
            payload,
            signature: base64url::decode(signature)?,
            header,
        })
    }

    /// What it says it is signed with, if that is one of ours. Keys are found
    /// by it, and must agree.
    pub(crate) fn algorithm(&self) -> Option<Algorithm> {
        Algorithm::from_name(&self.header.alg)
    }

    /// The name of the key that it says it is signed with.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// Who it says made it. Only for finding those who can tell whether that
    /// is so.
    pub(crate) fn claimed_issuer(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Claimed {
            iss: String,
        }
        let payload = base64url::decode(self.payload).ok()?;
        let claimed = serde_json::from_slice::<Claimed>(&payload);
        claimed.ok().map(|claimed| claimed.iss)
    }

    /// What kind of token it says it is.
    pub(crate) fn typ(&self) -> Option<&str> {
        self.header.typ.as_deref()
    }

    /// The key that it brings along. It proves nothing but that whoever signed
    /// the token holds its private part.
    pub(crate) fn embedded_key(&self) -> Option<Result<PublicKey, JoseError>> {
        let jwk = self.header.jwk.as_ref()?;
        Some(PublicKey::from_jwk(jwk.get()))
    }

    /// What the token says, if this key signed it.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<Vec<u8>, JoseError> {
        if self.algorithm() != Some(key.algorithm()) {
            return Err(JoseError::Unsupported("the key is not for that algorithm"));
        }
        key.verify(self.signing_input.as_bytes(), &self.signature)?;
        base64url::decode(self.payload)
    }
}
