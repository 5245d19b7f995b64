//! The error type of registries.

use std::{fmt, sync::Arc};

use super::NameError;
use crate::client::{Error, write_causes};

/// Why an operation on a server of the registry failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// The server or the name is unknown.
    Name(NameError),
    /// The server could not be reached.
    Unavailable {
        /// The server's name.
        server: Box<str>,
        /// The reason.
        error: Arc<Error>,
    },
    /// The operation failed on the server.
    Failed {
        /// The server's name.
        server: Box<str>,
        /// The reason.
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

    /// Returns the name of the server, if the error concerns one.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Name(_) => None,
            Self::Unavailable { server, .. } | Self::Failed { server, .. } => Some(server),
        }
    }

    /// Returns the client error, if there is one.
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

/// `{:#}` also writes the causes.
impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Unavailable { server, .. } => write!(f, "server `{server}` is unavailable"),
            Self::Failed { server, .. } => write!(f, "the request to server `{server}` failed"),
        }?;
        write_causes(self, f)
    }
}

impl std::error::Error for RegistryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // A name error is shown as this one, so it is not a cause.
        self.error().map(|error| error as _)
    }
}
