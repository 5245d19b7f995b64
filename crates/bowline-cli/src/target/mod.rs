//! The target server of a command, and how to reach it.
//!
//! `words` parses the command line, `configured` reads the configuration files,
//! `trust` decides whether project servers may be used, `transport` builds the
//! transport, and `connection` connects, within the time limit kept by `clock`.

mod clock;
mod configured;
mod connection;
mod transport;
pub(crate) mod trust;
mod words;

use std::{ffi::OsStr, path::Path};

use bowline::config::{Endpoint, RemoteServer, ServerEntry};

pub(crate) use self::{
    clock::CommandClock,
    configured::{ConfiguredServer, Servers, ShadowedBy, is_project_file},
    connection::{
        client_builder, interruptible, timed_out, with_client, with_limits, with_long_lived_client,
    },
    transport::user_command,
    words::{ResolvedWords, ServerArgs, TargetWords},
};
use crate::args::Globals;

/// The name of the built-in server.
pub(crate) const DEMO: &str = "demo";

/// A server selected on the command line.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// The built-in server.
    Demo,
    /// A configured server.
    Configured(Box<ConfiguredServer>),
    /// A server at a URL.
    Url(String),
    /// A server started by a command.
    Command(Vec<String>),
}

impl Target {
    /// Returns its display name: a URL without the query, which may hold keys,
    /// or a program without its directory.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Demo => DEMO,
            Self::Configured(found) => &found.entry.name,
            Self::Url(url) => url.split(['?', '#']).next().unwrap_or_default(),
            Self::Command(words) => {
                let program = words.first().map_or("", String::as_str);
                let file = Path::new(program).file_name();
                file.and_then(OsStr::to_str).unwrap_or(program)
            }
        }
    }

    /// Returns the command-line arguments that select it.
    pub(crate) fn to_shell_args(&self) -> String {
        match self {
            Self::Command(words) => {
                let words: Vec<_> = words.iter().map(|word| shell_quoted(word)).collect();
                format!("-- {}", words.join(" "))
            }
            Self::Configured(found) => found.to_shell_args(),
            target => shell_quoted(target.name()),
        }
    }

    /// Returns the options needed to find it, followed by a space.
    pub(crate) fn options(&self) -> String {
        match self {
            Self::Configured(found) => found.options(),
            _ => String::new(),
        }
    }

    /// Returns its configuration entry, if it has one.
    pub(crate) fn entry(&self) -> Option<&ServerEntry> {
        match self {
            Self::Configured(found) => Some(&found.entry),
            _ => None,
        }
    }

    /// Returns its entry if that is a remote server.
    fn remote(&self) -> Option<&RemoteServer> {
        match &self.entry()?.endpoint {
            Endpoint::Remote(server) => Some(server),
            _ => None,
        }
    }

    /// Returns its URL, if it is reached over HTTP.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Self::Url(url) => Some(url),
            target => target.remote().map(|server| server.url.as_str()),
        }
    }

    /// Returns whether credentials were given explicitly, so no sign-in is
    /// needed.
    pub(crate) fn has_credentials(&self, globals: &Globals) -> bool {
        let credentials = self.remote().and_then(|server| server.credentials.as_ref());
        credentials.is_some() || self.has_token(globals)
    }

    /// Returns whether an `Authorization` header is set.
    fn has_token(&self, globals: &Globals) -> bool {
        let is_token = |name: &str| name.trim().eq_ignore_ascii_case("authorization");
        let mut lines = globals.header.iter();
        if lines.any(|line| line.split_once(':').is_some_and(|(name, _)| is_token(name))) {
            return true;
        }
        let mut servers = self.remote().into_iter();
        servers.any(|server| server.headers.keys().any(|name| is_token(name)))
    }
}

/// Quotes a word for a shell.
pub(crate) fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
