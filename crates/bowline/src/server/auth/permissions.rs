//! Permissions: the scopes granted to the sender of a request.

use super::TokenClaims;

/// The scopes granted to the sender of a request.
#[derive(Clone, Default)]
pub(crate) enum Permissions {
    /// No token is known, and the request may come from anywhere.
    #[default]
    NoScopes,
    /// No tokens are required: the peer on the other end of a pipe may do
    /// everything.
    AllScopes,
    #[cfg(feature = "http-server")]
    Granted(TokenClaims),
}

impl Permissions {
    /// Returns the permissions of an HTTP request.
    #[cfg(feature = "http-server")]
    pub(crate) fn from_extensions(extensions: &http::Extensions) -> Self {
        let claims = extensions.get::<TokenClaims>();
        claims.map_or(Self::NoScopes, |claims| Self::Granted(claims.clone()))
    }

    pub(crate) fn claims(&self) -> Option<&TokenClaims> {
        match self {
            #[cfg(feature = "http-server")]
            Self::Granted(claims) => Some(claims),
            _ => None,
        }
    }

    /// Returns whether all of these scopes are granted.
    pub(crate) fn allows(&self, scopes: &[Box<str>]) -> bool {
        let each = |allowed: &dyn Fn(&str) -> bool| scopes.iter().all(|scope| allowed(scope));
        match self {
            Self::NoScopes => each(&|_| false),
            Self::AllScopes => each(&|_| true),
            #[cfg(feature = "http-server")]
            Self::Granted(claims) => each(&|scope| claims.allows(scope)),
        }
    }
}
