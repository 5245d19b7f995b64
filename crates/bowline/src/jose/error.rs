//! Errors in keys and tokens.

use std::fmt;

/// Why a key or token is not usable. Contains nothing of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoseError {
    /// Its encoding is invalid.
    Malformed(&'static str),
    /// It exceeds the maximum size.
    TooLarge,
    /// It is well-formed but not supported.
    Unsupported(&'static str),
    /// The key is invalid or too weak.
    BadKey(&'static str),
    /// The signature is not valid for the key.
    BadSignature,
    /// The random number generator or the signing operation failed.
    Failed,
}

impl fmt::Display for JoseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) | Self::Unsupported(reason) | Self::BadKey(reason) => {
                f.write_str(reason)
            }
            Self::TooLarge => f.write_str("it exceeds the maximum size"),
            Self::BadSignature => f.write_str("the signature is invalid"),
            Self::Failed => f.write_str("signing failed"),
        }
    }
}

impl std::error::Error for JoseError {}
