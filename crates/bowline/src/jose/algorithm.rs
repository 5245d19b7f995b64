//! The ways to sign that exist here.

use std::fmt;

/// A way to sign, with a key of its own kind each.
///
/// There is none without a key, and none with a shared secret: a verifier that
/// knew those could be talked into taking a public key for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA on the curve P-256, with SHA-256.
    Es256,
    /// ECDSA on the curve P-384, with SHA-384.
    Es384,
    /// RSA by PKCS #1, with SHA-256.
    Rs256,
    /// RSA by PSS, with SHA-256.
    Ps256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// The name in `alg`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of this name, if it is one of ours. Names are written in
    /// one way only.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "RS256" => Self::Rs256,
            "PS256" => Self::Ps256,
            // The second is the name that RFC 9864 gives it.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
