//! The transport to a target: its process or URL, with headers and credentials.

use bowline::{
    config::Endpoint,
    transport::{ChildProcess, Http, HttpConfigError, Transport},
};

use super::{ConfiguredServer, Target, trust};
use crate::{
    args::Globals,
    demo,
    failure::{Failure, PLAIN_HTTP_HINT},
    output::escape_control,
    sign_in,
};

impl Target {
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
