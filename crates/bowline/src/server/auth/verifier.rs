//! Who can tell good tokens from bad ones.

use std::{fmt, sync::Arc};

use super::{AccessToken, Grant};
use crate::transport::BoxFuture;

/// Verifies the tokens of one issuer.
///
/// [`JwtVerifier`](super::JwtVerifier) and [`Introspection`](super::Introspection)
/// do; this is for those who know their tokens in another way.
///
/// A verifier makes sure that the token is its issuer's, unchanged and in
/// time, and says what it grants. That it is meant for this server, and that it
/// is enough, is seen to by the [`Protection`](super::Protection).
///
/// ```
/// use bowline::{
///     server::auth::{AccessToken, Grant, VerifyError, TokenVerifier},
///     transport::BoxFuture,
/// };
///
/// struct Table;
///
/// impl TokenVerifier for Table {
///     fn issuer(&self) -> &str {
///         "https://login.example.com"
///     }
///
///     fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, VerifyError>> {
///         Box::pin(async move {
///             // In place of a look into a database.
///             if token.secret() != "tok-1" {
///                 return Err(VerifyError::Invalid("nobody knows this token"));
///             }
///             let grant = Grant::new(self.issuer(), "ada");
///             Ok(grant.for_audience("https://mcp.example.com/mcp"))
///         })
///     }
/// }
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Whose tokens it verifies: the address of the authorization server, as
    /// its metadata has it.
    fn issuer(&self) -> &str;

    /// Which tokens are shown to the issuer to verify them, if that is done at
    /// all: those that begin so, and whose issuer cannot be read in them. An
    /// empty prefix is all of them. Whoever is shown a token can use it, so no
    /// other issuer is shown those; nor any whose issuer can be read, and is
    /// another.
    fn opaque_prefix(&self) -> Option<&str> {
        None
    }

    /// Says what a token grants.
    ///
    /// # Errors
    ///
    /// Where it grants nothing, or where that cannot be known now.
    fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, VerifyError>>;
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not a token of this issuer's, but may be one of another's.
    OtherIssuer,
    /// It is none, or no longer. The client is told why: in plain ASCII,
    /// without quotes.
    Invalid(&'static str),
    /// That cannot be known now. It is not the token's fault, so that the
    /// client should keep it and try again.
    Unavailable,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherIssuer => "the token is none of this issuer's",
            Self::Invalid(why) => why,
            Self::Unavailable => "the token cannot be verified now",
        })
    }
}

impl std::error::Error for VerifyError {}

impl<T: TokenVerifier + ?Sized> TokenVerifier for Arc<T> {
    fn issuer(&self) -> &str {
        (**self).issuer()
    }

    fn opaque_prefix(&self) -> Option<&str> {
        (**self).opaque_prefix()
    }

    fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<Grant, VerifyError>> {
        (**self).verify(token)
    }
}
