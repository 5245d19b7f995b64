//! The target server of a command, and how to reach it.
//!
//! `words` parses the command line, `configured` reads the configuration files,
//! `trust` decides whether project servers may be used, and `connection`
//! connects, within the time limit kept by `clock`.

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

    /// Returns the transport, without observers, if the server is trusted.
    pub(crate) fn transport(&self, globals: &Globals) -> Result<Box<dyn Transport>, Failure> {
        trust::check_trusted(globals, self)?;
        self.check_headers(globals)?;
        self.build_transport(globals)
    }

    /// Checks that headers can be sent. Without HTTP they would be dropped
    /// silently.
    pub(crate) fn check_headers(&self, globals: &Globals) -> Result<(), Failure> {
        if globals.header.is_empty() || self.url().is_some() {
            return Ok(());
        }
        let name = self.name();
        let why = format!("--header: {name} is not an HTTP server and cannot receive headers");
        Err(Failure::usage(escape_control(&why))
            .hint("pass environment variables to commands with `env` in the entry"))
    }

    /// Builds the transport without checking trust, to describe it.
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
                    .ok_or_else(|| Failure::usage("expected a command after `--`"))?;
                Ok(Box::new(user_command(command, args)))
            }
        }
    }

    /// Adds known credentials to the transport, unless it has some.
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

/// Builds the process for a command typed by the user. It inherits the whole
/// environment, as from a shell; a configured server gets what its entry says.
pub(crate) fn user_command(command: &str, args: &[String]) -> ChildProcess {
    ChildProcess::new(command).args(args).inherit_env()
}

/// Builds the transport for a configured URL. Headers from the command line
/// override those of the entry.
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
        Ok(None) => Err(to_failure(&"the entry has neither a command nor a URL")),
        Err(problem @ HttpConfigError::CredentialsOverPlainHttp) => {
            Err(to_failure(&problem).hint(PLAIN_HTTP_HINT))
        }
        Err(problem) => Err(to_failure(&problem)),
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

/// Adds the headers from the command line.
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
            .hint("write --header 'Name: value'")
    })?;
    Ok((name.trim(), value.trim()))
}
