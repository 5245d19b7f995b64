//! The recording format, and parsing it.
//!
//! A recording is text with one JSON object per line. The first line is the
//! header: `{"bowline": version, "format": 1, "server": …, "started": …}`.
//! Every other line is an event: `ms` after the command began, on the `link` of
//! this number, an `event`. Messages are in `message`, verbatim; anything that
//! is not JSON, and other details, in `text`.

use std::{fs, io, path::Path};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// The version of the format.
pub(super) const FORMAT: u64 = 1;

/// The events.
pub(super) mod event {
    pub(crate) const UP: &str = "up";
    pub(crate) const SENT: &str = "sent";
    pub(crate) const RECEIVED: &str = "received";
    pub(crate) const REVISION_AGREED: &str = "settled";
    pub(crate) const REFUSED: &str = "refused";
    pub(crate) const CANCELLED: &str = "given-up";
    pub(crate) const OVERSIZE: &str = "oversize";
    pub(crate) const DOWN: &str = "down";
    pub(crate) const CLOSED: &str = "closed";
}

/// A parsed recording.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The recorded server.
    pub(crate) server: String,
    /// The revision used last.
    pub(crate) revision: Option<String>,
    pub(crate) messages: Vec<RecordedMessage>,
}

/// A recorded message.
#[derive(Debug)]
pub(crate) struct RecordedMessage {
    pub(crate) link: u32,
    /// Whether the client sent it.
    pub(crate) sent: bool,
    /// Verbatim.
    pub(crate) message: Box<RawValue>,
}

#[derive(Deserialize)]
struct Header {
    format: u64,
    #[serde(default)]
    server: String,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    link: u32,
    event: String,
    #[serde(default)]
    message: Option<Box<RawValue>>,
    #[serde(default)]
    text: Option<String>,
}

impl Recording {
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let to_failure = |why: &str| Failure::usage(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => to_failure("file not found"),
            io::ErrorKind::InvalidData => to_failure("not a recording"),
            _ => to_failure(&error.to_string()),
        })?;
        Self::parse(&text).map_err(|why| {
            to_failure(&why).hint("make a recording by running any command with --record FILE")
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let header: Header =
            serde_json::from_str(first).map_err(|_| "not a recording".to_owned())?;
        if header.format != FORMAT {
            let format = header.format;
            return Err(format!(
                "unsupported format {format}; only {FORMAT} is supported"
            ));
        }
        let mut recording = Self {
            server: header.server,
            revision: None,
            messages: Vec::new(),
        };
        for (index, line) in lines {
            let is_truncated_tail = line.len() < text.len() && text.ends_with(line);
            match serde_json::from_str(line) {
                Ok(line) => recording.add(line),
                // The command was killed while writing.
                Err(_) if is_truncated_tail => break,
                Err(error) => return Err(format!("line {}: {error}", index + 1)),
            }
        }
        Ok(recording)
    }

    fn add(&mut self, line: Line) {
        match (line.event.as_str(), line.message) {
            (sent @ (event::SENT | event::RECEIVED), Some(message)) => {
                self.messages.push(RecordedMessage {
                    link: line.link,
                    sent: sent == event::SENT,
                    message,
                });
            }
            (event::REVISION_AGREED, _) => self.revision = line.text,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "{\"bowline\":\"0.1.0\",\"format\":1,\"server\":\"x\"}\n";

    #[test]
    fn messages_are_read_in_their_order() {
        let text = format!(
            "{HEADER}{}\n{}\n{}\n{}\n{{\"ms\": 3, \"li",
            r#"{"ms":0.1,"link":1,"event":"up","text":"x"}"#,
            r#"{"ms":0.2,"link":1,"event":"sent","message":{"b":1,"a":2}}"#,
            r#"{"ms":0.3,"link":1,"event":"received","text":"garbage"}"#,
            r#"{"ms":0.4,"link":1,"event":"settled","text":"then"}"#,
        );
        let recording = Recording::parse(&text).expect("it is one");
        assert_eq!(recording.server, "x");
        assert_eq!(recording.revision.as_deref(), Some("then"));
        assert_eq!(recording.messages.len(), 1);
        assert_eq!(recording.messages[0].message.get(), r#"{"b":1,"a":2}"#);
    }

    #[test]
    fn what_is_none_is_said() {
        let cases = [
            ("".to_owned(), "not a recording"),
            ("{}".to_owned(), "not a recording"),
            (
                "{\"format\":2}".to_owned(),
                "unsupported format 2; only 1 is supported",
            ),
            (format!("{HEADER}[]\n{{\"event\":\"up\"}}\n"), "line 2: "),
        ];
        for (text, why) in cases {
            let error = Recording::parse(&text).expect_err("it is none");
            assert!(error.starts_with(why), "{error}");
        }
    }
}
