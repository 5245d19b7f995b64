//! Which server is meant, and how it is reached.
//!
//! `words` takes apart what was typed, `found` looks through the configuration
//! files, `trust` says whether what a project brings may be used, `connection`
//! goes there, within the time that `patience` has.

mod clock;
mod configured;
mod connection;
pub(crate) mod trust;
mod words;

use std::{ffi::OsStr, path::Path};

use bowline::{
    config::{Endpoint, RemoteServer, ServerEntry},
    transport::{ChildProcess, Http, HttpConfigError, Transport},
};

pub(crate) use self::{
    clock::CommandClock,
    configured::{ConfiguredServer, Servers, ShadowedBy, is_project_file},
    connection::{
        client_builder, interruptible, timed_out, with_client, with_limits, with_long_lived_client,
    },
    words::{ResolvedWords, ServerArgs, TargetWords},
};
use crate::{
    args::Globals,
    demo,
    failure::{Failure, PLAIN_HTTP_HINT},
    output::escape_control,
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
    Configured(Box<ConfiguredServer>),
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
    pub(crate) fn url(&self) -> Option<&str> {
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
        trust::check_trusted(globals, self)?;
        self.check_headers(globals)?;
        self.build_transport(globals)
    }

    /// Headers go to addresses. For what has none they would be dropped.
    pub(crate) fn check_headers(&self, globals: &Globals) -> Result<(), Failure> {
        if globals.header.is_empty() || self.url().is_some() {
            return Ok(());
        }
        let name = self.name();
        let why = format!("--header: {name} is not reached over HTTP, and gets no headers");
        Err(Failure::usage(escape_control(&why))
            .hint("a command gets variables, by `env` in its entry"))
    }

    /// The way to it, to be described.
    pub(crate) fn build_transport(&self, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        match self {
            Self::Demo => demo::transport(),
            Self::Configured(found) => match found.entry.child_process() {
                Some(process) => Ok(Box::new(process)),
                None => self.authorize(http_transport(found, globals)?, globals),
            },
            Self::Url(url) => {
                let http = Http::new(url).map_err(|why| Failure::usage(format!("{url}: {why}")))?;
                self.authorize(with_headers(http, &globals.header)?, globals)
            }
            Self::Command(words) => {
                let (command, args) = words
                    .split_first()
                    .ok_or_else(|| Failure::usage("a command is expected after `--`"))?;
                Ok(Box::new(user_command(command, args)))
            }
        }
    }

    /// The same way, with the credentials that are known, unless it has some.
    fn authorize(&self, mut http: Http, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        if globals.allow_plain_http {
            http = http.allow_plain_http();
        }
        match self.has_token(globals) {
            true => Ok(Box::new(http)),
            false => Ok(Box::new(sign_in::with_credentials(
                http,
                self.remote(),
                globals,
            )?)),
        }
    }
}

/// A server that a person starts by hand. It gets what it would get from their
/// shell, all variables included; a configured one gets what its entry says.
pub(crate) fn user_command(command: &str, args: &[String]) -> ChildProcess {
    ChildProcess::new(command).args(args).inherit_env()
}

/// The way to a configured address. A header that was typed goes before one of
/// the same name in the entry.
fn http_transport(found: &ConfiguredServer, globals: &Globals) -> Result<Http, Failure> {
    let headers = &globals.header;
    let mut entry = found.entry.clone();
    if let Endpoint::Remote(server) = &mut entry.endpoint {
        server.allow_plain_http |= globals.allow_plain_http;
        for header in headers {
            let (overridden, _) = split_header(header)?;
            server
                .headers
                .retain(|name, _| !name.eq_ignore_ascii_case(overridden));
        }
    }
    let to_failure = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", entry.name));
    match entry.http() {
        Ok(Some(http)) => with_headers(http, headers),
        Ok(None) => Err(to_failure(&"it has neither a command nor a URL")),
        Err(problem @ HttpConfigError::CredentialsOverPlainHttp) => {
            Err(to_failure(&problem).hint(PLAIN_HTTP_HINT))
        }
        Err(problem) => Err(to_failure(&problem)),
    }
}

/// A word as a shell takes it.
pub(crate) fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
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
