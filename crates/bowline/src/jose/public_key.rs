//! A key of somebody's that signatures are checked with (RFC 7517, 7638).

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Algorithm, JoseError, base64url, digest};

/// The longest `kid`.
const LONGEST_ID: usize = 512;

/// A public key, with the one algorithm that it is used with.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    id: Option<Box<str>>,
    algorithm: Algorithm,
    material: Material,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Material {
    /// A point on the curve of the algorithm.
    Point {
        x: Vec<u8>,
        y: Vec<u8>,
    },
    /// Without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Edwards {
        x: Vec<u8>,
    },
}

/// A JSON Web Key, as far as it matters here.
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
    /// Reads a JSON Web Key.
    ///
    /// An RSA key that does not name its algorithm is one for RS256, as
    /// everybody means it who leaves it out.
    ///
    /// # Errors
    ///
    /// Where it is none, is not for signatures, is of a kind that is not known
    /// here, or comes with its private part, which then is nobody's secret.
    pub fn from_jwk(json: &str) -> Result<Self, JoseError> {
        let jwk: Jwk<'_> = serde_json::from_str(json)
            .map_err(|_| JoseError::Malformed("it is not a JSON Web Key"))?;
        if jwk.d.is_some() {
            return Err(JoseError::BadKey("the key comes with its private part"));
        }
        if !jwk.is_for_signatures() {
            return Err(JoseError::Unsupported("the key is not for signatures"));
        }
        let (algorithm, material) = jwk.material()?;
        let stated = match &jwk.alg {
            None => algorithm,
            Some(name) => Algorithm::named(name)
                .ok_or(JoseError::Unsupported("no such algorithm is known here"))?,
        };
        let algorithm = match (algorithm, stated) {
            (Algorithm::Rs256, Algorithm::Ps256) => Algorithm::Ps256,
            (fits, stated) if fits == stated => stated,
            _ => return Err(JoseError::BadKey("the key does not fit its algorithm")),
        };
        let key = Self::new(algorithm, material);
        match jwk.kid {
            Some(id) => key.with_id(&id),
            None => Ok(key),
        }
    }

    pub(super) const fn new(algorithm: Algorithm, material: Material) -> Self {
        Self {
            id: None,
            algorithm,
            material,
        }
    }

    /// The key from what `ring` holds of it: an uncompressed point.
    pub(super) fn of_point(algorithm: Algorithm, point: &[u8]) -> Result<Self, JoseError> {
        let bad = JoseError::BadKey("it is not a point on the curve");
        let (&form, coordinates) = point.split_first().ok_or(bad)?;
        if form != 4 || !coordinates.len().is_multiple_of(2) {
            return Err(bad);
        }
        let (x, y) = coordinates.split_at(coordinates.len() / 2);
        let (x, y) = (x.to_vec(), y.to_vec());
        Ok(Self::new(algorithm, Material::Point { x, y }))
    }

    /// The same RSA key, for the other way to sign with it.
    pub(super) fn for_pss(mut self) -> Self {
        self.algorithm = Algorithm::Ps256;
        self
    }

    /// The same key, under a name.
    ///
    /// # Errors
    ///
    /// Where the name is too long to be one.
    pub fn with_id(mut self, id: &str) -> Result<Self, JoseError> {
        if id.len() > LONGEST_ID {
            return Err(JoseError::TooLarge);
        }
        self.id = Some(id.into());
        Ok(self)
    }

    /// Its name, where it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What it is used with.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The whole key as a JSON Web Key, to be published.
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        let mut jwk = self.required();
        jwk["alg"] = self.algorithm.name().into();
        jwk["use"] = "sig".into();
        if let Some(id) = self.id() {
            jwk["kid"] = id.into();
        }
        jwk
    }

    /// The members that make the key, and no others: what a proof of
    /// possession carries in its header.
    #[must_use]
    pub fn required(&self) -> Value {
        match &self.material {
            Material::Point { x, y } => json!({
                "crv": self.curve(), "kty": "EC",
                "x": base64url::encode(x), "y": base64url::encode(y),
            }),
            Material::Rsa { n, e } => json!({
                "e": base64url::encode(e), "kty": "RSA", "n": base64url::encode(n),
            }),
            Material::Edwards { x } => json!({
                "crv": self.curve(), "kty": "OKP", "x": base64url::encode(x),
            }),
        }
    }

    /// The SHA-256 thumbprint of RFC 7638, as base64url.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        digest(&crate::canonical::canonical(
            self.required().to_string().as_bytes(),
        ))
    }

    const fn curve(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Es384 => "P-384",
            Algorithm::EdDsa => "Ed25519",
            _ => "P-256",
        }
    }

    /// Checks a signature by this key.
    ///
    /// # Errors
    ///
    /// Where it is none.
    #[cfg(feature = "http-server")]
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), JoseError> {
        use ring::signature as by;
        let checked = match (&self.material, self.algorithm) {
            (Material::Rsa { n, e }, algorithm) => {
                let parameters = match algorithm {
                    Algorithm::Ps256 => &by::RSA_PSS_2048_8192_SHA256,
                    _ => &by::RSA_PKCS1_2048_8192_SHA256,
                };
                by::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Material::Edwards { x }, _) => {
                by::UnparsedPublicKey::new(&by::ED25519, x).verify(message, signature)
            }
            (Material::Point { x, y }, algorithm) => {
                let point = [&[4], &**x, &**y].concat();
                let curve = match algorithm {
                    Algorithm::Es384 => &by::ECDSA_P384_SHA384_FIXED,
                    _ => &by::ECDSA_P256_SHA256_FIXED,
                };
                by::UnparsedPublicKey::new(curve, point).verify(message, signature)
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

    /// What the key is made of, and what such a key is used with if nobody says
    /// otherwise.
    fn material(&self) -> Result<(Algorithm, Material), JoseError> {
        let unknown = JoseError::Unsupported("keys of that kind are not known here");
        match (self.kty, self.crv) {
            ("EC", Some("P-256")) => Ok((Algorithm::Es256, self.point(32)?)),
            ("EC", Some("P-384")) => Ok((Algorithm::Es384, self.point(48)?)),
            ("OKP", Some("Ed25519")) => {
                let x = exactly(self.x, 32)?;
                Ok((Algorithm::EdDsa, Material::Edwards { x }))
            }
            ("RSA", _) => Ok((Algorithm::Rs256, self.rsa()?)),
            _ => Err(unknown),
        }
    }

    fn point(&self, length: usize) -> Result<Material, JoseError> {
        let (x, y) = (exactly(self.x, length)?, exactly(self.y, length)?);
        Ok(Material::Point { x, y })
    }

    fn rsa(&self) -> Result<Material, JoseError> {
        let (n, e) = (number(self.n)?, number(self.e)?);
        // What is less, or more, no signature would be checked with later.
        if !(256..=1024).contains(&n.len()) || e.is_empty() || e.len() > 8 {
            return Err(JoseError::BadKey("the RSA key is too short or too long"));
        }
        Ok(Material::Rsa { n, e })
    }
}

fn part(text: Option<&str>) -> Result<Vec<u8>, JoseError> {
    let text = text.ok_or(JoseError::Malformed("a part of the key is missing"))?;
    base64url::decode(text)
}

fn exactly(text: Option<&str>, length: usize) -> Result<Vec<u8>, JoseError> {
    let part = part(text)?;
    if part.len() != length {
        return Err(JoseError::Malformed("a part of the key has a wrong length"));
    }
    Ok(part)
}

/// A number, without the leading zeros that some write.
fn number(text: Option<&str>) -> Result<Vec<u8>, JoseError> {
    let mut part = part(text)?;
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
