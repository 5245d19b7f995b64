//! Permissions: the scopes granted to the sender of a request.

use serde::{Deserialize, Serialize};

use super::{TokenClaims, token_claims::StoredClaims};

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

/// Permissions that are stored with a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum StoredPermissions {
    #[serde(rename = "n")]
    NoScopes,
    #[serde(rename = "a")]
    AllScopes,
    #[serde(rename = "g")]
    Granted(StoredClaims),
}

impl StoredPermissions {
    pub(crate) fn into_permissions(self) -> Permissions {
        match self {
            Self::AllScopes => Permissions::AllScopes,
            #[cfg(feature = "http-server")]
            Self::Granted(claims) => Permissions::Granted(claims.into()),
            _ => Permissions::NoScopes,
        }
    }
}

impl Permissions {
    pub(crate) fn to_stored(&self) -> StoredPermissions {
        match self {
            Self::NoScopes => StoredPermissions::NoScopes,
            Self::AllScopes => StoredPermissions::AllScopes,
            #[cfg(feature = "http-server")]
            Self::Granted(claims) => StoredPermissions::Granted(claims.to_stored()),
        }
    }

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
