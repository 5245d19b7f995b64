//! Why nothing is generated.

use std::{error::Error, fmt, io, path::PathBuf};

use bowline::lock::LockError;

/// Why nothing is generated.
#[derive(Debug)]
#[non_exhaustive]
pub enum GenerateError {
    /// Two names become the same identifier.
    Collision {
        /// What they name, such as `tools of server "github"`.
        what: String,
        /// The two names.
        names: [String; 2],
        /// The identifier.
        identifier: String,
    },
    /// The lock has no such server.
    UnknownServer {
        /// Its name.
        name: String,
        /// The servers that there are.
        known: Vec<String>,
    },
    /// The lock cannot be read.
    Lock(LockError),
    /// A generated file cannot be written.
    Write(PathBuf, io::Error),
    /// A build script is needed: the variable that Cargo sets for it is missing.
    NotInBuildScript(&'static str),
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collision {
                what,
                names: [one, other],
                identifier,
            } => write!(
                f,
                "two {what} have the same identifier `{identifier}`: {one:?} and {other:?}; rename \
                 one of them on the server"
            ),
            Self::UnknownServer { name, known } => write!(
                f,
                "the lock has no server {name:?}; it has {}",
                known.join(", ")
            ),
            Self::Lock(error) => write!(f, "{error}"),
            Self::Write(path, _) => write!(f, "cannot write {}", path.display()),
            Self::NotInBuildScript(variable) => {
                write!(f, "{variable} is not set; call this in a build script")
            }
        }
    }
}

impl Error for GenerateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Lock(error) => error.source(),
            Self::Write(_, error) => Some(error),
            _ => None,
        }
    }
}

impl From<LockError> for GenerateError {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}
