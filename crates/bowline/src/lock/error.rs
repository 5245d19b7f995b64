//! Why a lock cannot be read or written.

use std::{fmt, io, path::PathBuf};

/// Why a lock cannot be made, read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read or written.
    Io(PathBuf, io::Error),
    /// The file is not a lock.
    Invalid(String),
    /// The lock was written by a newer version.
    Version(u64),
    /// A tool was changed in the file by hand, or damaged: its hash differs.
    Hash {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The schema of a tool cannot be read.
    Schema {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, _) => write!(f, "cannot access {}", path.display()),
            Self::Invalid(reason) => write!(f, "not a valid lock file: {reason}"),
            Self::Version(version) => write!(
                f,
                "the lock file has version {version}, which is newer than this program; update \
                 bowline"
            ),
            Self::Hash { server, tool } => write!(
                f,
                "the hash of tool `{tool}` of server `{server}` does not match its definition: the \
                 lock file was edited or damaged; restore it, or delete it and lock the servers \
                 again"
            ),
            Self::Schema { tool, reason } => {
                write!(f, "the schema of tool `{tool}` cannot be read: {reason}")
            }
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
