//! One server from environment variables alone, for programs in containers.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{
    ClientCredentials, ConnectionSettings, Endpoint, Environment, ProblemKind, RemoteKind,
    RemoteServer, ServerEntry, ServersFile, StdioServer,
    entry_reader::{EntryKind, KNOWN_TYPES, NOT_HTTP_URL, is_http_url, parse_kind},
    paths::Paths,
    report::Report,
    settings::{backoff_between, to_usize},
    shell_words,
};
use crate::proto::{
    client::{Backoff, Timeouts},
    model::Root,
};

/// The name of the server.
const NAME: &str = "env";

/// Reads the server that the variables describe, if they do.
pub(super) fn read(environment: &Environment, paths: &Paths) -> ServersFile {
    let mut reader = EnvReader {
        environment,
        report: Report {
            server: Some(NAME.to_owned()),
            ..Report::default()
        },
    };
    let triggers = ["MCP_TRANSPORT", "MCP_CMD", "MCP_BASE_URL"];
    if !triggers.iter().any(|name| reader.get(name).is_some()) {
        return ServersFile::default();
    }
    let endpoint = reader.endpoint();
    let settings = reader.settings(paths);
    let server = endpoint.map(|endpoint| ServerEntry {
        connection: settings,
        ..ServerEntry::new(NAME, endpoint)
    });
    let usable = !reader.report.is_fatal();
    ServersFile {
        servers: server.filter(|_| usable).into_iter().collect(),
        problems: reader.report.problems,
        ..ServersFile::default()
    }
}

struct EnvReader<'a> {
    environment: &'a Environment,
    report: Report,
}

impl<'a> EnvReader<'a> {
    /// Returns a variable. An empty one counts as unset, because container definitions
    /// leave variables out that way.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        match self.kind()? {
            EntryKind::Stdio => self.stdio().map(Endpoint::Stdio),
            EntryKind::Remote(kind) => self.remote(kind).map(Endpoint::Remote),
        }
    }

    fn kind(&mut self) -> Option<EntryKind> {
        if let Some(name) = self.get("MCP_TRANSPORT") {
            let kind = parse_kind(name);
            if kind.is_none() {
                self.report.invalid_value("MCP_TRANSPORT", KNOWN_TYPES);
            }
            return kind;
        }
        match (self.get("MCP_CMD"), self.get("MCP_BASE_URL")) {
            (Some(_), Some(_)) => {
                let reason = "required, because both MCP_CMD and MCP_BASE_URL are set";
                self.report.invalid_value("MCP_TRANSPORT", reason);
                None
            }
            (Some(_), None) => Some(EntryKind::Stdio),
            (None, _) => Some(EntryKind::Remote(RemoteKind::Unspecified)),
        }
    }

    fn stdio(&mut self) -> Option<StdioServer> {
        let command = self.required("MCP_CMD")?;
        Some(StdioServer {
            command,
            args: self
                .list("MCP_ARGS", shell_words::split)
                .unwrap_or_default(),
            env: self.variables().unwrap_or_default(),
            inherit_env: false,
            cwd: None,
        })
    }

    fn remote(&mut self, kind: RemoteKind) -> Option<RemoteServer> {
        let url = self.required("MCP_BASE_URL")?;
        if !is_http_url(&url) {
            self.report.invalid_value("MCP_BASE_URL", NOT_HTTP_URL);
        }
        let credentials = self.credentials();
        Some(RemoteServer {
            url,
            headers: BTreeMap::new(),
            kind,
            credentials,
            allow_plain_http: self.flag("MCP_ALLOW_PLAIN_HTTP"),
        })
    }

    fn credentials(&mut self) -> Option<ClientCredentials> {
        let value = |name| self.get(name).map(str::to_owned);
        let client_secret = value("MCP_CLIENT_SECRET");
        let token_url = value("MCP_TOKEN_URL");
        let scope = value("MCP_SCOPE");
        if token_url.as_deref().is_some_and(|url| !is_http_url(url)) {
            self.report.invalid_value("MCP_TOKEN_URL", NOT_HTTP_URL);
        }
        // A client secret needs a client ID.
        let client_id = match (&client_secret, &token_url, &scope) {
            (None, None, None) => self.get("MCP_CLIENT_ID")?.to_owned(),
            _ => self.required("MCP_CLIENT_ID")?,
        };
        Some(ClientCredentials {
            client_id,
            client_secret,
            token_url,
            scope,
        })
    }

    fn settings(&mut self, paths: &Paths) -> ConnectionSettings {
        ConnectionSettings {
            timeouts: self.timeouts(),
            backoff: self.backoff(),
            max_frame_size: self.number("MCP_MAX_FRAME").map(to_usize),
            revisions: None,
            roots: self.roots(paths),
        }
    }

    fn timeouts(&mut self) -> Option<Timeouts> {
        let request = self.millis("MCP_TIMEOUT");
        let opening = self.millis("MCP_INIT_TIMEOUT");
        if request.is_none() && opening.is_none() {
            return None;
        }
        let mut timeouts = Timeouts::standard();
        if let Some(ms) = request {
            let request = Duration::from_millis(ms);
            timeouts.resource = request;
            timeouts.tool = request;
            timeouts.other = request;
        }
        if let Some(ms) = opening {
            timeouts.connect = Duration::from_millis(ms);
        }
        Some(timeouts)
    }

    fn backoff(&mut self) -> Option<Backoff> {
        let (min, max) = (
            self.millis("MCP_BACKOFF_MIN"),
            self.millis("MCP_BACKOFF_MAX"),
        );
        if min.is_none() && max.is_none() {
            return None;
        }
        let backoff = backoff_between(min, max);
        if let Err(reason) = &backoff {
            self.report.invalid_value("MCP_BACKOFF_MIN", reason);
        }
        backoff.ok()
    }

    fn roots(&mut self, paths: &Paths) -> Option<Vec<Root>> {
        let split_commas = |value: &str| {
            let items = value
                .split(',')
                .map(|path_or_uri| path_or_uri.trim().to_owned());
            Some(
                items
                    .filter(|path_or_uri| !path_or_uri.is_empty())
                    .collect(),
            )
        };
        let mut roots = Vec::new();
        for path_or_uri in self.list("MCP_ROOTS", split_commas)? {
            match paths.root(&path_or_uri) {
                Ok(root) => roots.push(root),
                Err(reason) => self.report.invalid_value("MCP_ROOTS", reason),
            }
        }
        Some(roots)
    }

    fn required(&mut self, name: &'static str) -> Option<String> {
        let value = self.get(name).map(str::to_owned);
        if value.is_none() {
            self.report
                .add(name, ProblemKind::UnsetVariable(name.to_owned()));
        }
        value
    }

    /// Parses a JSON list of strings, or else splits the string with `split`.
    fn list(
        &mut self,
        name: &str,
        split: impl Fn(&str) -> Option<Vec<String>>,
    ) -> Option<Vec<String>> {
        let value = self.get(name)?.trim();
        let list = if value.starts_with('[') {
            serde_json::from_str::<Vec<String>>(value).ok()
        } else {
            split(value)
        };
        if list.is_none() {
            let reason = "expected a JSON list of strings or plain words";
            self.report.invalid_value(name, reason);
        }
        list
    }

    fn variables(&mut self) -> Option<BTreeMap<String, String>> {
        let value = self.get("MCP_ENV")?.trim();
        let variables = if value.starts_with('{') {
            serde_json::from_str::<Value>(value)
                .ok()
                .and_then(string_members)
        } else {
            shell_words::split(value).and_then(assignments)
        };
        if variables.is_none() {
            let reason = "expected a JSON object of strings or words NAME=value";
            self.report.invalid_value("MCP_ENV", reason);
        }
        variables
    }

    /// Parses a time in milliseconds, unless it has a unit.
    fn millis(&mut self, name: &str) -> Option<u64> {
        let value = self.get(name)?.trim();
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match value[digits.len()..].trim() {
            "" | "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        let number = digits.trim().parse::<u64>().ok();
        let time = factor.and_then(|factor| number?.checked_mul(factor));
        let time = time.filter(|&ms| ms > 0);
        if time.is_none() {
            let reason = "expected a time above zero, such as 500ms, 30s or 2m";
            self.report.invalid_value(name, reason);
        }
        time
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.get(name).map(str::trim) {
            None | Some("0" | "false" | "no") => false,
            Some("1" | "true" | "yes") => true,
            Some(_) => {
                self.report.invalid_value(name, "expected 1 or 0");
                false
            }
        }
    }

    fn number(&mut self, name: &str) -> Option<u64> {
        let number = self.get(name)?.trim().parse().ok().filter(|&it| it > 0);
        if number.is_none() {
            self.report
                .invalid_value(name, "expected a whole number above zero");
        }
        number
    }
}

fn string_members(value: Value) -> Option<BTreeMap<String, String>> {
    let Value::Object(members) = value else {
        return None;
    };
    let to_string_pair = |(name, value)| match value {
        Value::String(value) => Some((name, value)),
        _ => None,
    };
    members.into_iter().map(to_string_pair).collect()
}

fn assignments(words: Vec<String>) -> Option<BTreeMap<String, String>> {
    let assignment = |word: String| {
        let (name, value) = word.split_once('=')?;
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    words.into_iter().map(assignment).collect()
}
