//! Why a lock cannot be made or read.

use std::{fmt, io, path::PathBuf};

/// Why a lock cannot be made or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// The contents of this file are wrong.
    File(PathBuf, Box<LockError>),
    /// This is not a lock.
    Invalid(String),
    /// The lock was written by a newer version of Bowline.
    Version(u64),
    /// A tool was changed by hand, or damaged: its hash differs.
    Hash {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// Something else about a server was changed by hand, or damaged: its hash
    /// differs.
    ServerHash {
        /// The server.
        server: String,
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
            Self::Io(path, error) if error.kind() == io::ErrorKind::NotFound => write!(
                f,
                "cannot read {} (create it with `bowline lock SERVER`)",
                path.display()
            ),
            Self::Io(path, _) => write!(f, "cannot read {}", path.display()),
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Invalid(reason) => write!(
                f,
                "not a valid lock file: {reason}; restore it, or delete it and run \
                 `bowline lock SERVER` for each server"
            ),
            Self::Version(version) => write!(
                f,
                "the lock file has version {version}, which is newer than this program; update \
                 bowline"
            ),
            Self::Hash { server, tool } => {
                let what =
                    format!("tool `{tool}` of server `{server}` does not match its definition");
                write_edited(f, server, &what)
            }
            Self::ServerHash { server } => {
                let what = format!("server `{server}` does not match its entry");
                write_edited(f, server, &what)
            }
            Self::Schema { tool, reason } => write!(
                f,
                "the schema of tool `{tool}` cannot be read: {reason}; the server cannot be \
                 locked until it is corrected"
            ),
        }
    }
}

fn write_edited(f: &mut fmt::Formatter<'_>, server: &str, what: &str) -> fmt::Result {
    write!(
        f,
        "the hash of {what}: the lock file was edited or damaged; restore it, or remove \
         `{server}` from it and run `bowline lock {server}`"
    )
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
