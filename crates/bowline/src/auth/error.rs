//! Why somebody could not be let in.

use std::fmt;

use super::{fetch::FetchError, store::StoreError};
use crate::{
    jose::JoseError,
    proto::auth::{MetadataError, OAuthError, RedirectError},
    transport::Unauthorized,
};

/// Why authorization failed, in words that hold no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthError {
    kind: AuthErrorKind,
    words: String,
    refusal: Option<OAuthError>,
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
    pub(super) fn new(kind: AuthErrorKind, words: impl Into<String>) -> Self {
        Self {
            kind,
            words: words.into(),
            refusal: None,
        }
    }

    pub(super) fn refused(by: &str, error: OAuthError) -> Self {
        Self {
            kind: AuthErrorKind::Refused,
            words: format!("{by} refused: {error}"),
            refusal: Some(error),
        }
    }

    /// A failure on the user's side, for user agents of others.
    #[must_use]
    pub fn user(words: impl Into<String>) -> Self {
        Self::new(AuthErrorKind::User, words)
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> AuthErrorKind {
        self.kind
    }

    /// What the authorization server said, where it refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&OAuthError> {
        self.refusal.as_ref()
    }

    /// Whether the authorization server refused with this code.
    pub(super) fn is_refusal(&self, code: &str) -> bool {
        self.refusal().is_some_and(|error| error.code() == code)
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for AuthError {}

impl From<AuthError> for Unauthorized {
    fn from(error: AuthError) -> Self {
        Self::new(error.words)
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

impl From<StoreError> for AuthError {
    fn from(error: StoreError) -> Self {
        Self::new(AuthErrorKind::Store, error.to_string())
    }
}

impl From<MetadataError> for AuthError {
    fn from(error: MetadataError) -> Self {
        let words = format!("the authorization server cannot be used: {error}");
        Self::new(AuthErrorKind::Metadata, words)
    }
}

impl From<RedirectError> for AuthError {
    fn from(error: RedirectError) -> Self {
        match error {
            RedirectError::Refused(error) => Self::refused("the authorization server", error),
            other => Self::new(AuthErrorKind::User, other.to_string()),
        }
    }
}

impl From<JoseError> for AuthError {
    fn from(error: JoseError) -> Self {
        Self::new(AuthErrorKind::Key, error.to_string())
    }
}
