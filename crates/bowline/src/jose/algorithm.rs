//! The supported signature algorithms.

use std::fmt;

/// A signature algorithm, each with its own kind of key.
///
/// There is no algorithm without a key and none with a shared secret: a
/// verifier that supported those could be tricked into using a public key as a
/// secret.
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
    /// Returns the name in `alg`.
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

    /// Returns the algorithm with this name, if it is supported. Names are
    /// case-sensitive.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "RS256" => Self::Rs256,
            "PS256" => Self::Ps256,
            // The second is its name in RFC 9864.
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
