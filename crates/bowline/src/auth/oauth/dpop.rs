//! DPoP proofs of possession: RFC 9449.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::Response;
use reqwest::Url;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use serde_json::json;

use super::{account::now, context::AuthContext};
use crate::{
    auth::{AuthError, AuthErrorKind, Secret, random},
    jose::{self, SigningKey},
};

/// The header with the nonce for the next proof.
pub(super) const NONCE_HEADER: &str = "dpop-nonce";

/// A key that tokens are bound to.
pub(super) struct DpopKey {
    key: SigningKey,
    /// The key as it is stored: without it, refresh tokens are lost.
    pem: Secret,
}

impl DpopKey {
    pub(super) fn new() -> Result<Self, AuthError> {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new());
        let document = document
            .map_err(|_| AuthError::new(AuthErrorKind::Key, "failed to generate a DPoP key"))?;
        let base64 = STANDARD.encode(document.as_ref());
        Self::from_pem(&format!(
            "-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n"
        ))
    }

    pub(super) fn from_pem(pem: &str) -> Result<Self, AuthError> {
        Ok(Self {
            key: SigningKey::from_pem(pem)?,
            pem: Secret::from(pem),
        })
    }

    pub(super) fn pem(&self) -> &Secret {
        &self.pem
    }

    pub(super) fn thumbprint(&self) -> String {
        self.key.public_key().thumbprint()
    }

    /// Signs a proof for one request, with the digest of the token that it is
    /// sent with. Valid for that request only.
    pub(super) fn sign_proof(
        &self,
        method: &str,
        url: &Url,
        nonce: Option<&str>,
        token: Option<&Secret>,
    ) -> Result<String, AuthError> {
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        let mut claims = json!({
            "jti": random::random_token()?,
            "htm": method,
            "htu": url.as_str(),
            "iat": now(),
        });
        if let Some(nonce) = nonce {
            claims["nonce"] = nonce.into();
        }
        if let Some(token) = token {
            claims["ath"] = jose::digest(token.expose().as_bytes()).into();
        }
        Ok(self.key.sign_embedding_key("dpop+jwt", &claims)?)
    }
}

impl AuthContext {
    pub(super) fn proof_for_endpoint(
        &self,
        key: &DpopKey,
        endpoint: &str,
    ) -> Result<String, AuthError> {
        let url = parse_endpoint(endpoint)?;
        let nonce = self.account.nonce(&url);
        key.sign_proof("POST", &url, nonce.as_deref(), None)
    }

    /// Records a nonce from a response; returns whether there was one.
    pub(super) fn record_nonce(&self, endpoint: &str, response: &Response<Bytes>) -> bool {
        let nonce = response
            .headers()
            .get(NONCE_HEADER)
            .and_then(|value| value.to_str().ok());
        let (Some(nonce), Ok(url)) = (nonce, parse_endpoint(endpoint)) else {
            return false;
        };
        self.account.record_nonce(&url, nonce);
        true
    }
}

fn parse_endpoint(endpoint: &str) -> Result<Url, AuthError> {
    Url::parse(endpoint).map_err(|_| {
        AuthError::new(
            AuthErrorKind::Metadata,
            "an endpoint of the authorization server is not a valid URL",
        )
    })
}
