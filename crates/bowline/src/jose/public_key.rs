//! A public key that verifies signatures (RFC 7517, 7638).

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Algorithm, JoseError, base64url, digest};

/// Maximum length of a `kid`.
const MAX_ID_LEN: usize = 512;

/// A public key, with the one algorithm that it is used with.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    id: Option<Box<str>>,
    algorithm: Algorithm,
    material: KeyMaterial,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum KeyMaterial {
    /// A point on the curve of the algorithm.
    Ec {
        x: Vec<u8>,
        y: Vec<u8>,
    },
    /// Without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Ed25519 {
        x: Vec<u8>,
    },
}

/// A JSON Web Key, as far as it is needed here.
#[derive(Deserialize)]
struct Jwk<'a> {
    kty: &'a str,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    key_ops: Option<Vec<String>>,
    #[serde(default)]
    crv: Option<&'a str>,
    #[serde(default)]
    x: Option<&'a str>,
    #[serde(default)]
    y: Option<&'a str>,
    #[serde(default)]
    n: Option<&'a str>,
    #[serde(default)]
    e: Option<&'a str>,
    #[serde(default)]
    d: Option<serde::de::IgnoredAny>,
}

impl PublicKey {
    /// Parses a JSON Web Key.
    ///
    /// An RSA key without an algorithm is for RS256, as is common.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid key, is not for signatures, is of
    /// an unsupported type, or contains its private part, which is then no
    /// longer secret.
    pub fn from_jwk(json: &str) -> Result<Self, JoseError> {
        let jwk: Jwk<'_> = serde_json::from_str(json)
            .map_err(|_| JoseError::Malformed("not a valid JSON Web Key"))?;
        if jwk.d.is_some() {
            return Err(JoseError::BadKey("the key contains its private part"));
        }
        if !jwk.is_for_signatures() {
            return Err(JoseError::Unsupported("the key is not for signatures"));
        }
        let (algorithm, material) = jwk.material()?;
        let stated = match &jwk.alg {
            None => algorithm,
            Some(name) => Algorithm::from_name(name).ok_or(JoseError::Unsupported(
                "the key is for an unsupported algorithm",
            ))?,
        };
        let algorithm = match (algorithm, stated) {
            (Algorithm::Rs256, Algorithm::Ps256) => Algorithm::Ps256,
            (derived, stated) if derived == stated => stated,
            _ => {
                return Err(JoseError::BadKey(
                    "the key type does not match its algorithm",
                ));
            }
        };
        let key = Self::new(algorithm, material);
        match jwk.kid {
            Some(id) => key.with_id(&id),
            None => Ok(key),
        }
    }

    pub(super) const fn new(algorithm: Algorithm, material: KeyMaterial) -> Self {
        Self {
            id: None,
            algorithm,
            material,
        }
    }

    /// Creates a key from an uncompressed point, as `ring` has it.
    pub(super) fn from_point(algorithm: Algorithm, point: &[u8]) -> Result<Self, JoseError> {
        let invalid_point = JoseError::BadKey("the key is not a point on the curve");
        let (&point_format, coordinates) = point.split_first().ok_or(invalid_point)?;
        if point_format != 4 || !coordinates.len().is_multiple_of(2) {
            return Err(invalid_point);
        }
        let (x, y) = coordinates.split_at(coordinates.len() / 2);
        let (x, y) = (x.to_vec(), y.to_vec());
        Ok(Self::new(algorithm, KeyMaterial::Ec { x, y }))
    }

    /// Returns the same RSA key for PS256.
    pub(super) fn for_pss(mut self) -> Self {
        self.algorithm = Algorithm::Ps256;
        self
    }

    /// Returns the same key with an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the id is too long.
    pub fn with_id(mut self, id: &str) -> Result<Self, JoseError> {
        if id.len() > MAX_ID_LEN {
            return Err(JoseError::TooLarge);
        }
        self.id = Some(id.into());
        Ok(self)
    }

    /// Returns its id, if it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns its algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the whole key as a JSON Web Key, for publication.
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        let mut jwk = self.required_members();
        jwk["alg"] = self.algorithm.name().into();
        jwk["use"] = "sig".into();
        if let Some(id) = self.id() {
            jwk["kid"] = id.into();
        }
        jwk
    }

    /// Returns only the members that define the key, as a proof of possession
    /// carries them in its header.
    #[must_use]
    pub fn required_members(&self) -> Value {
        match &self.material {
            KeyMaterial::Ec { x, y } => json!({
                "crv": self.curve(), "kty": "EC",
                "x": base64url::encode(x), "y": base64url::encode(y),
            }),
            KeyMaterial::Rsa { n, e } => json!({
                "e": base64url::encode(e), "kty": "RSA", "n": base64url::encode(n),
            }),
            KeyMaterial::Ed25519 { x } => json!({
                "crv": self.curve(), "kty": "OKP", "x": base64url::encode(x),
            }),
        }
    }

    /// Returns the SHA-256 thumbprint of RFC 7638, as base64url.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        digest(&crate::canonical::canonicalize(
            self.required_members().to_string().as_bytes(),
        ))
    }

    const fn curve(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Es384 => "P-384",
            Algorithm::EdDsa => "Ed25519",
            _ => "P-256",
        }
    }

    /// Verifies a signature by this key.
    ///
    /// # Errors
    ///
    /// Returns an error if it is invalid.
    #[cfg(feature = "http-server")]
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), JoseError> {
        use ring::signature as ring_signature;
        let checked = match (&self.material, self.algorithm) {
            (KeyMaterial::Rsa { n, e }, algorithm) => {
                let parameters = match algorithm {
                    Algorithm::Ps256 => &ring_signature::RSA_PSS_2048_8192_SHA256,
                    _ => &ring_signature::RSA_PKCS1_2048_8192_SHA256,
                };
                ring_signature::RsaPublicKeyComponents { n, e }
                    .verify(parameters, message, signature)
            }
            (KeyMaterial::Ed25519 { x }, _) => {
                ring_signature::UnparsedPublicKey::new(&ring_signature::ED25519, x)
                    .verify(message, signature)
            }
            (KeyMaterial::Ec { x, y }, algorithm) => {
                let point = [&[4], &**x, &**y].concat();
                let curve = match algorithm {
                    Algorithm::Es384 => &ring_signature::ECDSA_P384_SHA384_FIXED,
                    _ => &ring_signature::ECDSA_P256_SHA256_FIXED,
                };
                ring_signature::UnparsedPublicKey::new(curve, point).verify(message, signature)
            }
        };
        checked.map_err(|_| JoseError::BadSignature)
    }
}

impl Jwk<'_> {
    fn is_for_signatures(&self) -> bool {
        let operations = self.key_ops.as_deref();
        self.purpose.as_deref().is_none_or(|it| it == "sig")
            && operations.is_none_or(|all| all.iter().any(|it| it == "verify"))
    }

    /// Returns the key material, and the default algorithm for this type of
    /// key.
    fn material(&self) -> Result<(Algorithm, KeyMaterial), JoseError> {
        let unknown = JoseError::Unsupported("the key type is not supported");
        match (self.kty, self.crv) {
            ("EC", Some("P-256")) => Ok((Algorithm::Es256, self.ec(32)?)),
            ("EC", Some("P-384")) => Ok((Algorithm::Es384, self.ec(48)?)),
            ("OKP", Some("Ed25519")) => {
                let x = decode_exact(self.x, 32)?;
                Ok((Algorithm::EdDsa, KeyMaterial::Ed25519 { x }))
            }
            ("RSA", _) => Ok((Algorithm::Rs256, self.rsa()?)),
            _ => Err(unknown),
        }
    }

    fn ec(&self, length: usize) -> Result<KeyMaterial, JoseError> {
        let (x, y) = (decode_exact(self.x, length)?, decode_exact(self.y, length)?);
        Ok(KeyMaterial::Ec { x, y })
    }

    fn rsa(&self) -> Result<KeyMaterial, JoseError> {
        let (n, e) = (decode_integer(self.n)?, decode_integer(self.e)?);
        // `ring` would reject keys outside of this range on verification.
        if !(256..=1024).contains(&n.len()) || e.is_empty() || e.len() > 8 {
            return Err(JoseError::BadKey("the RSA key must have 2048 to 8192 bits"));
        }
        Ok(KeyMaterial::Rsa { n, e })
    }
}

fn decode_part(encoded: Option<&str>) -> Result<Vec<u8>, JoseError> {
    let encoded = encoded.ok_or(JoseError::Malformed("a member of the key is missing"))?;
    base64url::decode(encoded)
}

fn decode_exact(encoded: Option<&str>, length: usize) -> Result<Vec<u8>, JoseError> {
    let part = decode_part(encoded)?;
    if part.len() != length {
        return Err(JoseError::Malformed(
            "a member of the key has the wrong length",
        ));
    }
    Ok(part)
}

/// Decodes an integer, without the leading zeros that some encoders write.
fn decode_integer(encoded: Option<&str>) -> Result<Vec<u8>, JoseError> {
    let mut part = decode_part(encoded)?;
    let zeros = part.iter().take_while(|byte| **byte == 0).count();
    part.drain(..zeros);
    Ok(part)
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
