//! Authorization errors.

use std::fmt;

use super::store::TokenStoreError;
use crate::{
    fetch::FetchError,
    jose::JoseError,
    proto::auth::{AuthorizationResponseError, MetadataError, OAuthError},
    transport::Unauthorized,
};

/// Why authorization failed, in words that hold no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthError {
    kind: AuthErrorKind,
    message: String,
    oauth_error: Option<OAuthError>,
}

/// The kind of an [`AuthError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthErrorKind {
    /// A server could not be reached, or sent an invalid response.
    Unreachable,
    /// A discovered URL is not allowed.
    Blocked,
    /// The metadata of a server cannot be trusted or used.
    Metadata,
    /// No client id is configured for the authorization server.
    NoClientId,
    /// No user can sign in, or the user did not.
    User,
    /// The authorization server refused.
    Refused,
    /// The server does not accept the tokens that its authorization server
    /// issued.
    Rejected,
    /// Tokens could not be stored or loaded.
    Store,
    /// A key cannot be used.
    Key,
}

impl AuthError {
    pub(super) fn new(kind: AuthErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            oauth_error: None,
        }
    }

    pub(super) fn refused(subject: &str, error: OAuthError) -> Self {
        Self {
            kind: AuthErrorKind::Refused,
            message: format!("{subject} refused: {error}"),
            oauth_error: Some(error),
        }
    }

    /// Creates an error of the kind [`User`](AuthErrorKind::User), for custom
    /// user agents.
    #[must_use]
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(AuthErrorKind::User, message)
    }

    /// Returns the kind of the failure.
    #[must_use]
    pub fn kind(&self) -> AuthErrorKind {
        self.kind
    }

    /// Returns the error response of the authorization server, if it refused.
    #[must_use]
    pub fn oauth_error(&self) -> Option<&OAuthError> {
        self.oauth_error.as_ref()
    }

    /// Returns whether the authorization server refused with this code.
    pub(super) fn has_code(&self, code: &str) -> bool {
        self.oauth_error().is_some_and(|error| error.code() == code)
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AuthError {}

impl From<AuthError> for Unauthorized {
    fn from(error: AuthError) -> Self {
        Self::new(error.message)
    }
}

impl From<FetchError> for AuthError {
    fn from(error: FetchError) -> Self {
        let kind = match error {
            FetchError::Blocked(_) => AuthErrorKind::Blocked,
            FetchError::Failed(_) => AuthErrorKind::Unreachable,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<TokenStoreError> for AuthError {
    fn from(error: TokenStoreError) -> Self {
        Self::new(AuthErrorKind::Store, error.to_string())
    }
}

impl From<MetadataError> for AuthError {
    fn from(error: MetadataError) -> Self {
        let message = format!("the authorization server cannot be used: {error}");
        Self::new(AuthErrorKind::Metadata, message)
    }
}

impl From<AuthorizationResponseError> for AuthError {
    fn from(error: AuthorizationResponseError) -> Self {
        match error {
            AuthorizationResponseError::Refused(error) => {
                Self::refused("the authorization server", error)
            }
            other => Self::new(AuthErrorKind::User, other.to_string()),
        }
    }
}

impl From<JoseError> for AuthError {
    fn from(error: JoseError) -> Self {
        Self::new(AuthErrorKind::Key, error.to_string())
    }
}
