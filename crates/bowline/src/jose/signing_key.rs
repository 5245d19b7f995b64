//! A private key for signing tokens.

use std::fmt;

use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaKeyPair,
    },
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Algorithm, JoseError, PublicKey, base64url, pem, public_key::KeyMaterial};

/// A private key. Never shown in `Debug` output.
pub struct SigningKey {
    pair: SigningKeyPair,
    public: PublicKey,
}

enum SigningKeyPair {
    Ecdsa(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Generates a new key for ES256.
    ///
    /// # Errors
    ///
    /// Returns an error if the system's random number generator fails.
    pub fn generate() -> Result<Self, JoseError> {
        let curve = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(curve, &SystemRandom::new());
        Self::from_pkcs8(document.map_err(|_| JoseError::Failed)?.as_ref())
    }

    /// Parses a PEM file with a key in PKCS #8: for ES256, ES384, RS256 or
    /// `EdDSA`, by the type of the key.
    ///
    /// # Errors
    ///
    /// Returns an error if the file has no usable key, or the key is too weak.
    pub fn from_pem(file: &str) -> Result<Self, JoseError> {
        Self::from_pkcs8(&pem::private_key(file)?)
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, JoseError> {
        let random = SystemRandom::new();
        let curves = [
            (Algorithm::Es256, &ECDSA_P256_SHA256_FIXED_SIGNING),
            (Algorithm::Es384, &ECDSA_P384_SHA384_FIXED_SIGNING),
        ];
        for (algorithm, curve) in curves {
            if let Ok(pair) = EcdsaKeyPair::from_pkcs8(curve, der, &random) {
                let public = PublicKey::from_point(algorithm, pair.public_key().as_ref())?;
                let pair = SigningKeyPair::Ecdsa(pair);
                return Ok(Self { pair, public });
            }
        }
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            let x = pair.public_key().as_ref().to_vec();
            let public = PublicKey::new(Algorithm::EdDsa, KeyMaterial::Ed25519 { x });
            let pair = SigningKeyPair::Ed25519(pair);
            return Ok(Self { pair, public });
        }
        let pair = RsaKeyPair::from_pkcs8(der).map_err(|_| {
            JoseError::BadKey("the key is not a P-256, P-384, Ed25519 or sufficiently long RSA key")
        })?;
        let PublicKeyComponents { n, e } = PublicKeyComponents::from(pair.public());
        let public = PublicKey::new(Algorithm::Rs256, KeyMaterial::Rsa { n, e });
        let pair = SigningKeyPair::Rsa(Box::new(pair));
        Ok(Self { pair, public })
    }

    /// Returns the same key with an id, which tokens carry as `kid`.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is too long.
    pub fn with_id(mut self, id: &str) -> Result<Self, JoseError> {
        self.public = self.public.with_id(id)?;
        Ok(self)
    }

    /// Returns the same key for PS256 instead of RS256.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not an RSA key.
    pub fn with_pss(mut self) -> Result<Self, JoseError> {
        if !matches!(self.pair, SigningKeyPair::Rsa(_)) {
            return Err(JoseError::BadKey("PS256 requires an RSA key"));
        }
        self.public = self.public.for_pss();
        Ok(self)
    }

    /// Returns the public key.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a compact token with these claims. Its header has the key id, if
    /// there is one, and this `typ`, such as `JWT` or `at+jwt`.
    ///
    /// # Errors
    ///
    /// Returns an error if the claims cannot be serialized as JSON, or signing
    /// fails.
    pub fn sign<T: Serialize + ?Sized>(&self, typ: &str, claims: &T) -> Result<String, JoseError> {
        let mut header = json!({"alg": self.public.algorithm().name(), "typ": typ});
        if let Some(id) = self.public.id() {
            header["kid"] = id.into();
        }
        self.sign_with_header(&header, claims)
    }

    /// Like [`sign`](Self::sign), with the public key in the header: a proof of
    /// possession of the private key, as in DPoP (RFC 9449).
    ///
    /// # Errors
    ///
    /// As for [`sign`](Self::sign).
    pub fn sign_embedding_key<T: Serialize + ?Sized>(
        &self,
        typ: &str,
        claims: &T,
    ) -> Result<String, JoseError> {
        let algorithm = self.public.algorithm().name();
        let header = json!({"alg": algorithm, "typ": typ, "jwk": self.public.required_members()});
        self.sign_with_header(&header, claims)
    }

    fn sign_with_header<T: Serialize + ?Sized>(
        &self,
        header: &Value,
        claims: &T,
    ) -> Result<String, JoseError> {
        let claims = serde_json::to_vec(claims)
            .map_err(|_| JoseError::Malformed("the claims cannot be serialized as JSON"))?;
        let mut token = base64url::encode(header.to_string().as_bytes());
        token.push('.');
        token.push_str(&base64url::encode(&claims));
        let signature = self.sign_bytes(token.as_bytes())?;
        token.push('.');
        token.push_str(&base64url::encode(&signature));
        Ok(token)
    }

    fn sign_bytes(&self, message: &[u8]) -> Result<Vec<u8>, JoseError> {
        let random = SystemRandom::new();
        match &self.pair {
            SigningKeyPair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            SigningKeyPair::Ecdsa(pair) => {
                let signed = pair.sign(&random, message);
                let signature = signed.map_err(|_| JoseError::Failed)?;
                Ok(signature.as_ref().to_vec())
            }
            SigningKeyPair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn ring::signature::RsaEncoding = match self.public.algorithm() {
                    Algorithm::Ps256 => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let signed = pair.sign(padding, &random, message, &mut signature);
                signed.map_err(|_| JoseError::Failed)?;
                Ok(signature)
            }
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}
