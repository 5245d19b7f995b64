//! Which server is meant, and how it is reached.
//!
//! `words` takes apart what was typed, `found` looks through the configuration
//! files, `trust` says whether what a project brings may be used, `connection`
//! goes there, within the time that `patience` has.

mod connection;
mod found;
mod patience;
pub(crate) mod trust;
mod words;

use std::{ffi::OsStr, path::Path};

use bowline::{
    config::{Endpoint, RemoteServer, ServerEntry},
    transport::{ChildProcess, Http, HttpProblem, Transport},
};

pub(crate) use self::{
    connection::{bounded, interruptible, settings, too_slow, with_client, with_client_for_long},
    found::{Found, Rival, Servers, is_projects_file},
    patience::Patience,
    words::{ServerArgs, ServerWords, Words},
};
use crate::{
    args::Globals,
    demo,
    failure::{Failure, PLAIN_HTTP},
    output::clean,
    sign_in,
};

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
            Self::Configured(found) => found.typed(),
            target => quoted(target.name()),
        }
    }

    /// The options that it takes to find it, and a blank after them.
    pub(crate) fn options(&self) -> String {
        match self {
            Self::Configured(found) => found.options(),
            _ => String::new(),
        }
    }

    /// What its configuration says, where it has one.
    pub(crate) fn entry(&self) -> Option<&ServerEntry> {
        match self {
            Self::Configured(found) => Some(&found.entry),
            _ => None,
        }
    }

    /// What its configuration says of a server that runs elsewhere.
    fn remote(&self) -> Option<&RemoteServer> {
        match &self.entry()?.endpoint {
            Endpoint::Remote(server) => Some(server),
            _ => None,
        }
    }

    /// Where it is, if it is reached over HTTP.
    pub(crate) fn address(&self) -> Option<&str> {
        match self {
            Self::Url(url) => Some(url),
            target => target.remote().map(|server| server.url.as_str()),
        }
    }

    /// Whether what is sent to it was said by hand, so that nobody need sign in.
    pub(crate) fn has_credentials(&self, globals: &Globals) -> bool {
        let credentials = self.remote().and_then(|server| server.credentials.as_ref());
        credentials.is_some() || self.has_token(globals)
    }

    /// Whether a header says who asks.
    fn has_token(&self, globals: &Globals) -> bool {
        let is_token = |name: &str| name.trim().eq_ignore_ascii_case("authorization");
        let mut lines = globals.header.iter();
        if lines.any(|line| line.split_once(':').is_some_and(|(name, _)| is_token(name))) {
            return true;
        }
        let mut servers = self.remote().into_iter();
        servers.any(|server| server.headers.keys().any(|name| is_token(name)))
    }

    /// The way to it, without anything that watches the way, if it may be used.
    pub(crate) fn transport(&self, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        trust::check(globals, self)?;
        self.check_headers(globals)?;
        self.way(globals)
    }

    /// Headers go to addresses. For what has none they would be dropped.
    pub(crate) fn check_headers(&self, globals: &Globals) -> Result<(), Failure> {
        if globals.header.is_empty() || self.address().is_some() {
            return Ok(());
        }
        let name = self.name();
        let why = format!("--header: {name} is not reached over HTTP, and gets no headers");
        Err(Failure::usage(clean(&why)).hint("a command gets variables, by `env` in its entry"))
    }

    /// The way to it, to be described.
    pub(crate) fn way(&self, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        match self {
            Self::Demo => demo::transport(),
            Self::Configured(found) => match found.entry.child_process() {
                Some(process) => Ok(Box::new(process)),
                None => self.authorized(of_entry(found, globals)?, globals),
            },
            Self::Url(url) => {
                let http = Http::new(url).map_err(|why| Failure::usage(format!("{url}: {why}")))?;
                self.authorized(with_headers(http, &globals.header)?, globals)
            }
            Self::Command(words) => {
                let (command, args) = words
                    .split_first()
                    .ok_or_else(|| Failure::usage("a command is expected after `--`"))?;
                Ok(Box::new(typed_command(command, args)))
            }
        }
    }

    /// The same way, with the credentials that are known, unless it has some.
    fn authorized(&self, mut http: Http, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        if globals.allow_plain_http {
            http = http.allow_plain_http();
        }
        match self.has_token(globals) {
            true => Ok(Box::new(http)),
            false => Ok(Box::new(sign_in::authorized(http, self.remote(), globals)?)),
        }
    }
}

/// A server that a person starts by hand. It gets what it would get from their
/// shell, all variables included; a configured one gets what its entry says.
pub(crate) fn typed_command(command: &str, args: &[String]) -> ChildProcess {
    ChildProcess::new(command).args(args).inherit_env()
}

/// The way to a configured address. A header that was typed goes before one of
/// the same name in the entry.
fn of_entry(found: &Found, globals: &Globals) -> Result<Http, Failure> {
    let headers = &globals.header;
    let mut entry = found.entry.clone();
    if let Endpoint::Remote(server) = &mut entry.endpoint {
        server.allow_plain_http |= globals.allow_plain_http;
        for header in headers {
            let (typed, _) = split_header(header)?;
            server
                .headers
                .retain(|name, _| !name.eq_ignore_ascii_case(typed));
        }
    }
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", entry.name));
    match entry.http() {
        Ok(Some(http)) => with_headers(http, headers),
        Ok(None) => Err(wrong(&"it has neither a command nor a URL")),
        Err(problem @ HttpProblem::PlainHttp) => Err(wrong(&problem).hint(PLAIN_HTTP)),
        Err(problem) => Err(wrong(&problem)),
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The same way, with headers that were typed.
fn with_headers(mut http: Http, headers: &[String]) -> Result<Http, Failure> {
    for header in headers {
        let (name, value) = split_header(header)?;
        http = http
            .header(name, value)
            .map_err(|why| Failure::usage(format!("--header {name}: {why}")))?;
    }
    Ok(http)
}

fn split_header(header: &str) -> Result<(&str, &str), Failure> {
    let (name, value) = header.split_once(':').ok_or_else(|| {
        Failure::usage(format!("--header {header}: a colon is missing"))
            .hint("write it as --header 'Name: value'")
    })?;
    Ok((name.trim(), value.trim()))
}
