//! The file `bowline.lock`.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{error::LockError, server::LockedServer};

/// The version of the format that this program writes.
const VERSION: u64 = 1;

/// The contents of `bowline.lock`: servers as they were reviewed, by the names that
/// people gave them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Lock {
    version: u64,
    /// The servers, by name.
    pub servers: BTreeMap<String, LockedServer>,
}

impl Default for Lock {
    fn default() -> Self {
        Self {
            version: VERSION,
            servers: BTreeMap::new(),
        }
    }
}

/// Reads the version alone, since a newer format may have other members.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

impl Lock {
    /// Parses a lock file, and verifies the hash of every tool.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a lock file, if a newer program wrote it, or if
    /// the definition of a tool does not have the hash that is stored beside it.
    pub fn parse(json: &str) -> Result<Self, LockError> {
        let invalid = |error: serde_json::Error| LockError::Invalid(error.to_string());
        let Versioned { version } = serde_json::from_str(json).map_err(invalid)?;
        if version > VERSION {
            return Err(LockError::Version(version));
        }
        let lock: Self = serde_json::from_str(json).map_err(invalid)?;
        for (server, locked) in &lock.servers {
            for (tool, definition) in &locked.tools {
                if definition.hash != definition.computed_hash() {
                    return Err(LockError::Hash {
                        server: server.clone(),
                        tool: tool.clone(),
                    });
                }
            }
        }
        Ok(lock)
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or [parsed](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LockError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        Self::parse(&text.map_err(|error| LockError::Io(path.to_owned(), error))?)
    }

    /// Returns the text of the file: the same for the same contents, one member on a
    /// line, so that differences are easy to review.
    #[must_use]
    pub fn to_json(&self) -> String {
        // The contents are strings and JSON, so they serialize.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tool;

    fn file() -> String {
        let mut tool = Tool::new("roll");
        tool.description = Some("Rolls dice".to_owned());
        let server = LockedServer::default().with_tools([&tool]);
        let mut lock = Lock::default();
        let server = server.expect("the schema is read");
        lock.servers.insert("dice".to_owned(), server);
        lock.to_json()
    }

    #[test]
    fn what_is_written_is_read() {
        let lock = Lock::parse(&file()).expect("a lock");
        assert_eq!(lock.to_json(), file());
    }

    #[test]
    fn a_tool_that_was_edited_is_refused() {
        let edited = file().replace("Rolls dice", "Reads keys");
        let error = Lock::parse(&edited).expect_err("the hash differs");
        assert!(matches!(error, LockError::Hash { tool, .. } if tool == "roll"));
    }

    #[test]
    fn what_this_program_does_not_know_is_refused() {
        let newer = file().replace("\"version\": 1", "\"version\": 2");
        let error = Lock::parse(&newer).expect_err("a newer version");
        assert!(matches!(error, LockError::Version(2)));
        let unknown = file().replace("\"hash\"", "\"extra\": 1, \"hash\"");
        let error = Lock::parse(&unknown).expect_err("an unknown member");
        assert!(matches!(error, LockError::Invalid(_)));
    }
}
