//! What can be wrong with keys and tokens.

use std::fmt;

/// What is wrong with a key or a token. It repeats nothing of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoseError {
    /// It is not written as it should be.
    Malformed(&'static str),
    /// It is larger than anything that is needed.
    TooLarge,
    /// It is written well, but nothing here can deal with it.
    Unsupported(&'static str),
    /// The key is none, or too weak.
    BadKey(&'static str),
    /// The signature is not one by that key.
    BadSignature,
    /// There were no random numbers, or signing failed.
    Failed,
}

impl fmt::Display for JoseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(reason) | Self::Unsupported(reason) | Self::BadKey(reason) => {
                f.write_str(reason)
            }
            Self::TooLarge => f.write_str("it is too large"),
            Self::BadSignature => f.write_str("the signature does not fit"),
            Self::Failed => f.write_str("signing failed"),
        }
    }
}

impl std::error::Error for JoseError {}
