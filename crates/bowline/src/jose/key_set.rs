//! The keys that an issuer publishes (RFC 7517).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Algorithm, JoseError, PublicKey};

/// Maximum size of a set.
const MAX_SET: usize = 256 * 1024;
/// Maximum number of keys in a set.
const MAX_KEYS: usize = 128;
/// Maximum number of keys that are tried for a token without a key id.
const MAX_CANDIDATES: usize = 4;

/// The keys of an issuer.
///
/// Keys that are not for signatures or of an unsupported type are skipped: an
/// issuer may publish more keys than needed here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<PublicKey>,
}

#[derive(Deserialize)]
struct JwkSet<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// Parses a JSON Web Key Set.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid set or too large.
    pub fn from_json(json: &[u8]) -> Result<Self, JoseError> {
        if json.len() > MAX_SET {
            return Err(JoseError::TooLarge);
        }
        let parsed: JwkSet<'_> = serde_json::from_slice(json)
            .map_err(|_| JoseError::Malformed("not a valid JSON Web Key Set"))?;
        if parsed.keys.len() > MAX_KEYS {
            return Err(JoseError::TooLarge);
        }
        let keys = parsed.keys.into_iter();
        Ok(keys
            .filter_map(|key| PublicKey::from_jwk(key.get()).ok())
            .collect())
    }

    /// Returns the keys.
    #[must_use]
    pub fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// Returns the set as JSON, for publication.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let keys = self.keys.iter().map(PublicKey::to_jwk);
        serde_json::json!({ "keys": keys.collect::<Vec<_>>() })
    }

    /// Returns whether the set has a key with this id.
    #[must_use]
    pub fn contains_id(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.id() == Some(id))
    }

    /// Returns the keys that a token may be signed with: the one with its key
    /// id, or, if it has none, a few keys for its algorithm.
    pub fn candidates<'a>(
        &'a self,
        id: Option<&'a str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'a PublicKey> {
        self.keys
            .iter()
            .filter(move |key| id.is_none() || key.id() == id)
            .filter(move |key| key.algorithm() == algorithm)
            .take(MAX_CANDIDATES)
    }
}

impl FromIterator<PublicKey> for KeySet {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }
}

impl From<PublicKey> for KeySet {
    fn from(key: PublicKey) -> Self {
        Self { keys: vec![key] }
    }
}
