//! The file `bowline.lock`.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};

use super::{error::LockError, server::LockedServer};

/// The version of the format that this program writes.
const VERSION: u64 = 1;

/// The contents of `bowline.lock`: servers as they were reviewed, by the names that
/// people gave them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Lock {
    /// The servers, by name.
    pub servers: BTreeMap<String, LockedServer>,
}

/// Reads the version alone, since a newer format may have other members.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// The file as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileContents {
    #[expect(dead_code, reason = "it was read before")]
    version: u64,
    servers: BTreeMap<String, LockedServer>,
}

/// The file as it is written.
#[derive(Serialize)]
struct WrittenFile<'a> {
    version: u64,
    servers: BTreeMap<&'a str, LockedServer>,
}

impl Lock {
    /// Parses a lock file, and verifies the hash of every tool and every server.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a lock file, if a newer program wrote it, or if
    /// a tool or a server does not have the hash that is stored with it.
    pub fn parse(json: &str) -> Result<Self, LockError> {
        let invalid = |error: serde_json::Error| LockError::Invalid(error.to_string());
        let Versioned { version } = serde_json::from_str(json).map_err(invalid)?;
        if version > VERSION {
            return Err(LockError::Version(version));
        }
        let FileContents { mut servers, .. } = serde_json::from_str(json).map_err(invalid)?;
        for (name, server) in &mut servers {
            server.verify(name)?;
        }
        Ok(Self { servers })
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or [parsed](Self::parse).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, LockError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| LockError::Io(path.to_owned(), error))?;
        Self::parse(&text).map_err(|error| LockError::File(path.to_owned(), Box::new(error)))
    }

    /// Returns the text of the file: the same for the same contents, one member on a
    /// line, so that differences are easy to review.
    #[must_use]
    pub fn to_json(&self) -> String {
        let servers = self.servers.iter();
        let servers = servers.map(|(name, server)| (name.as_str(), server.with_hash()));
        let file = WrittenFile {
            version: VERSION,
            servers: servers.collect(),
        };
        // The contents are strings and JSON, so they serialize.
        let mut json = serde_json::to_string_pretty(&file).unwrap_or_default();
        json.push('\n');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lock::ObservedOutput,
        model::{Implementation, Prompt, Resource, ResourceTemplate, Tool},
    };

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

    /// A lock in which everything has a text, and the texts.
    fn full() -> (String, [&'static str; 8]) {
        let mut prompt = Prompt::new("greet");
        prompt.description = Some("prompt text".to_owned());
        let mut resource = Resource::new("file:///a", "a");
        resource.description = Some("resource text".to_owned());
        let mut template = ResourceTemplate::new("file:///{a}", "a");
        template.description = Some("template text".to_owned());
        let mut tools = ["roll", "flip"].map(Tool::new);
        tools[0].description = Some("tool text".to_owned());
        let server = LockedServer::default()
            .with_identity(
                Some(&Implementation::new("Dice Server", "1.2.3")),
                Some("instruction text"),
            )
            .with_prompts([&prompt])
            .with_resources([&resource])
            .with_resource_templates([&template])
            .with_tools(&tools);
        let mut server = server.expect("the schemas are read");
        for tool in server.tools.values_mut() {
            let result = serde_json::json!({"observed_member": 1});
            tool.observed_output = Some(ObservedOutput::observe(None, &result));
        }
        let mut lock = Lock::default();
        lock.servers.insert("dice".to_owned(), server);
        let texts = [
            "prompt text",
            "resource text",
            "template text",
            "tool text",
            "instruction text",
            "observed_member",
            "Dice Server",
            "1.2.3",
        ];
        (lock.to_json(), texts)
    }

    #[test]
    fn whatever_was_edited_is_refused() {
        let (file, texts) = full();
        assert_eq!(Lock::parse(&file).expect("a lock").to_json(), file);
        for text in texts {
            assert!(file.contains(text), "{text}");
            let error = Lock::parse(&file.replace(text, "edited"));
            assert!(error.is_err(), "{text}");
        }
    }

    #[test]
    fn tools_that_were_renamed_or_swapped_are_refused() {
        let (file, _) = full();
        let renamed = file.replace("\"roll\"", "\"reel\"");
        assert!(Lock::parse(&renamed).is_err(), "renamed");
        let swapped = file.replace("\"roll\"", "\"x\"");
        let swapped = swapped.replace("\"flip\"", "\"roll\"");
        let swapped = swapped.replace("\"x\"", "\"flip\"");
        assert_ne!(swapped, file);
        assert!(Lock::parse(&swapped).is_err(), "swapped");
    }

    #[test]
    fn what_this_program_does_not_know_is_refused() {
        let newer = file().replace("\"version\": 1", "\"version\": 2");
        let error = Lock::parse(&newer).expect_err("a newer version");
        assert!(matches!(error, LockError::Version(2)));
        let unknown = file().replace("\"hash\"", "\"extra\": 1, \"hash\"");
        let error = Lock::parse(&unknown).expect_err("an unknown member");
        assert!(matches!(error, LockError::Invalid(_)));
        let (observed, _) = full();
        let unknown = observed.replace("\"count\"", "\"extra\": 1, \"count\"");
        assert_ne!(unknown, observed);
        let error = Lock::parse(&unknown).expect_err("an unknown member");
        assert!(matches!(error, LockError::Invalid(_)), "{error}");
    }
}
