//! Why somebody could not be let in.

use std::fmt;

use super::{fetch::FetchError, store::TokenStoreError};
use crate::{
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

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthErrorKind {
    /// A server on the way could not be reached, or did not answer sensibly.
    Unreachable,
    /// What was found leads to a place that must not be asked.
    Blocked,
    /// What a server says of itself, or of another, cannot be trusted or used.
    Metadata,
    /// There is no client id for the authorization server.
    NoClientId,
    /// There is nobody who could sign in, or they did not.
    User,
    /// The authorization server refused.
    Refused,
    /// The resource does not take the tokens that its guard gave.
    Rejected,
    /// Tokens could not be kept or read.
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

    /// A failure on the user's side, for user agents of others.
    #[must_use]
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(AuthErrorKind::User, message)
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> AuthErrorKind {
        self.kind
    }

    /// What the authorization server said, where it refused.
    #[must_use]
    pub fn oauth_error(&self) -> Option<&OAuthError> {
        self.oauth_error.as_ref()
    }

    /// Whether the authorization server refused with this code.
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
