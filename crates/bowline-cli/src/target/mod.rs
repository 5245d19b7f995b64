//! Which server is meant, and how it is reached.
//!
//! `words` takes apart what was typed, `found` looks through the configuration
//! files, `connection` goes there.

mod connection;
mod found;
mod words;

use std::{ffi::OsStr, path::Path};

use bowline::{
    config::{Endpoint, ServerEntry},
    transport::{ChildProcess, Http, Transport},
};

pub(crate) use self::{
    connection::{interruptible, settings, with_client},
    found::{Found, Servers, places},
    words::{ServerArgs, ServerWords, Words},
};
use crate::{args::Globals, demo, failure::Failure, sign_in};

/// The name of the server that is built in.
pub(crate) const DEMO: &str = "demo";

/// A server, as it was named.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// The one that is built in.
    Demo,
    /// One of a configuration file.
    Configured(Box<Found>),
    /// One behind an address.
    Url(String),
    /// One that a command starts.
    Command(Vec<String>),
}

impl Target {
    /// What to call it: an address without its query, in which people put keys,
    /// and a program without its folder.
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

    /// What to type to mean it.
    pub(crate) fn typed(&self) -> String {
        match self {
            Self::Command(words) => {
                let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
                format!("-- {}", words.join(" "))
            }
            target => target.name().to_owned(),
        }
    }

    /// What its configuration says, where it has one.
    pub(crate) fn entry(&self) -> Option<&ServerEntry> {
        match self {
            Self::Configured(found) => Some(&found.entry),
            _ => None,
        }
    }

    /// Where it is, if it is reached over HTTP.
    pub(crate) fn address(&self) -> Option<&str> {
        match (self, self.entry().map(|entry| &entry.endpoint)) {
            (Self::Url(url), _) => Some(url),
            (_, Some(Endpoint::Remote(server))) => Some(&server.url),
            _ => None,
        }
    }

    /// Whether what is sent to it was said by hand, so that nobody need sign in.
    pub(crate) fn has_credentials(&self, globals: &Globals) -> bool {
        match (self, self.entry().map(|entry| &entry.endpoint)) {
            (Self::Url(_), _) => {
                let names = globals
                    .header
                    .iter()
                    .filter_map(|line| line.split_once(':'));
                names.map(|(name, _)| name.trim()).any(is_authorization)
            }
            (_, Some(Endpoint::Remote(server))) => {
                let mut names = server.headers.keys();
                server.credentials.is_some() || names.any(|name| is_authorization(name))
            }
            _ => false,
        }
    }

    /// The way to it, without anything that watches the way.
    pub(crate) fn transport(&self, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        match self {
            Self::Demo => demo::transport(),
            Self::Configured(found) => of_entry(&found.entry, globals),
            Self::Url(url) => {
                let http = of_url(url, &globals.header)?;
                match self.has_credentials(globals) {
                    true => Ok(Box::new(http)),
                    false => Ok(Box::new(sign_in::authorized(http, None, globals)?)),
                }
            }
            Self::Command(words) => {
                let (command, args) = words
                    .split_first()
                    .ok_or_else(|| Failure::usage("a command is expected after `--`"))?;
                Ok(Box::new(ChildProcess::new(command).args(args)))
            }
        }
    }
}

fn of_entry(entry: &ServerEntry, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
    if let Some(process) = entry.child_process() {
        return Ok(Box::new(process));
    }
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", entry.name));
    match entry.http() {
        Ok(Some(http)) => {
            let server = match &entry.endpoint {
                Endpoint::Remote(server) => Some(server),
                _ => None,
            };
            let mut names = server.into_iter().flat_map(|server| server.headers.keys());
            match names.any(|name| is_authorization(name)) {
                true => Ok(Box::new(http)),
                false => Ok(Box::new(sign_in::authorized(http, server, globals)?)),
            }
        }
        Ok(None) => Err(wrong(&"it has neither a command nor a URL")),
        Err(problem) => Err(wrong(&problem)),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn is_authorization(name: &str) -> bool {
    name.eq_ignore_ascii_case("authorization")
}

fn of_url(url: &str, headers: &[String]) -> Result<Http, Failure> {
    let wrong = |problem| Failure::usage(format!("{url}: {problem}"));
    let mut http = Http::new(url).map_err(wrong)?;
    for header in headers {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            Failure::usage(format!("--header {header}: a colon is missing"))
                .hint("write it as --header 'Name: value'")
        })?;
        http = http.header(name.trim(), value.trim()).map_err(wrong)?;
    }
    Ok(http)
}
