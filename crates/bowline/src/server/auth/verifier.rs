//! Token verifiers.

use std::{fmt, sync::Arc};

use super::{AccessToken, TokenClaims};
use crate::transport::BoxFuture;

/// Verifies the tokens of one issuer.
///
/// Implemented by [`JwtVerifier`](super::JwtVerifier) and
/// [`IntrospectionVerifier`](super::IntrospectionVerifier). Implement it
/// yourself for other kinds of tokens.
///
/// A verifier checks that the token was issued by its issuer, is unmodified and
/// has not expired, and returns what it grants.
/// [`Protection`](super::Protection) checks the audience and the scopes.
///
/// ```
/// use bowline::{
///     server::auth::{AccessToken, TokenClaims, VerifyError, TokenVerifier},
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
///     fn verify<'a>(&'a self, token: AccessToken<'a>) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
///         Box::pin(async move {
///             // Stands in for a database lookup.
///             if token.secret() != "tok-1" {
///                 return Err(VerifyError::Invalid("unknown token"));
///             }
///             let claims = TokenClaims::new(self.issuer(), "ada");
///             Ok(claims.with_audience("https://mcp.example.com/mcp"))
///         })
///     }
/// }
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Returns the issuer whose tokens it verifies: the URL of the
    /// authorization server as in its metadata.
    fn issuer(&self) -> &str;

    /// Returns the prefix of opaque tokens that are sent to the issuer for
    /// verification, or `None` if none are. An empty prefix matches all. Anyone
    /// who sees a token can use it, so these tokens are shown to no other
    /// issuer, and a token that names another issuer is not shown to this one.
    fn opaque_prefix(&self) -> Option<&str> {
        None
    }

    /// Returns what a token grants.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not valid, or if that cannot be determined
    /// now.
    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>>;
}

/// The reason a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token was not issued by this issuer, but possibly by another.
    OtherIssuer,
    /// The token is invalid or has expired. The reason is sent to the client
    /// and must be plain ASCII without quotes.
    Invalid(&'static str),
    /// The token cannot be verified now. The token may be valid, so the client
    /// should keep it and try again.
    Unavailable,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherIssuer => "the token was issued by another issuer",
            Self::Invalid(why) => why,
            Self::Unavailable => "the token cannot be verified now, try again later",
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

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        (**self).verify(token)
    }
}
