//! What can go wrong with one of many servers.

use std::{fmt, sync::Arc};

use super::NameError;
use crate::client::Error;

/// Why something asked of one of many servers did not succeed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// There is no such server, or no such name.
    Name(NameError),
    /// The server could not be reached.
    Unavailable {
        /// Which one.
        server: Box<str>,
        /// Why.
        error: Arc<Error>,
    },
    /// The server was asked, without success.
    Failed {
        /// Which one.
        server: Box<str>,
        /// What came of it.
        error: Arc<Error>,
    },
}

impl RegistryError {
    pub(super) fn unavailable(server: &str, error: Error) -> Self {
        let (server, error) = (server.into(), Arc::new(error));
        Self::Unavailable { server, error }
    }

    pub(super) fn failed(server: &str, error: impl Into<Arc<Error>>) -> Self {
        let (server, error) = (server.into(), error.into());
        Self::Failed { server, error }
    }

    /// The server concerned, where there is one.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Name(_) => None,
            Self::Unavailable { server, .. } | Self::Failed { server, .. } => Some(server),
        }
    }

    /// The error of the connection, where it is one.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        match self {
            Self::Name(_) => None,
            Self::Unavailable { error, .. } | Self::Failed { error, .. } => Some(error),
        }
    }
}

impl From<NameError> for RegistryError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Unavailable { server, error } => {
                write!(f, "server `{server}` is unavailable: {error}")
            }
            Self::Failed { server, error } => write!(f, "server `{server}`: {error}"),
        }
    }
}

impl std::error::Error for RegistryError {}
