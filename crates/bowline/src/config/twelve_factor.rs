//! One server from variables alone, for programs that are run in containers.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{
    ClientCredentials, Endpoint, Environment, ProblemKind, RemoteKind, RemoteServer, ServerEntry,
    ServersFile, Settings, StdioServer,
    entry::{KINDS, Kind, NO_ADDRESS, is_address, kind_of},
    paths::Paths,
    report::Report,
    settings::{backoff_between, size},
    words,
};
use crate::proto::{
    client::{Backoff, Timeouts},
    model::Root,
};

/// What the server is called.
const NAME: &str = "env";

/// Reads the server that the variables describe, if they do.
pub(super) fn read(environment: &Environment, paths: &Paths) -> ServersFile {
    let mut reader = Reader {
        environment,
        report: Report {
            server: Some(NAME.to_owned()),
            ..Report::default()
        },
    };
    let asked = ["MCP_TRANSPORT", "MCP_CMD", "MCP_BASE_URL"];
    if !asked.iter().any(|name| reader.get(name).is_some()) {
        return ServersFile::default();
    }
    let endpoint = reader.endpoint();
    let settings = reader.settings(paths);
    let server = endpoint.map(|endpoint| ServerEntry {
        settings,
        ..ServerEntry::new(NAME, endpoint)
    });
    let usable = !reader.report.is_fatal();
    ServersFile {
        servers: server.filter(|_| usable).into_iter().collect(),
        problems: reader.report.problems,
        ..ServersFile::default()
    }
}

struct Reader<'a> {
    environment: &'a Environment,
    report: Report,
}

impl<'a> Reader<'a> {
    /// A variable. An empty one counts as unset: that is how a container's
    /// description leaves one out.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        match self.kind()? {
            Kind::Stdio => self.stdio().map(Endpoint::Stdio),
            Kind::Remote(kind) => self.remote(kind).map(Endpoint::Remote),
        }
    }

    fn kind(&mut self) -> Option<Kind> {
        if let Some(word) = self.get("MCP_TRANSPORT") {
            let kind = kind_of(word);
            if kind.is_none() {
                self.report.value("MCP_TRANSPORT", KINDS);
            }
            return kind;
        }
        match (self.get("MCP_CMD"), self.get("MCP_BASE_URL")) {
            (Some(_), Some(_)) => {
                let why = "there is MCP_CMD as well as MCP_BASE_URL, so it must be said";
                self.report.value("MCP_TRANSPORT", why);
                None
            }
            (Some(_), None) => Some(Kind::Stdio),
            (None, _) => Some(Kind::Remote(RemoteKind::Unspecified)),
        }
    }

    fn stdio(&mut self) -> Option<StdioServer> {
        let command = self.required("MCP_CMD")?;
        Some(StdioServer {
            command,
            args: self.list("MCP_ARGS", words::split).unwrap_or_default(),
            env: self.variables().unwrap_or_default(),
            inherit_env: false,
            cwd: None,
        })
    }

    fn remote(&mut self, kind: RemoteKind) -> Option<RemoteServer> {
        let url = self.required("MCP_BASE_URL")?;
        if !is_address(&url) {
            self.report.value("MCP_BASE_URL", NO_ADDRESS);
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
        let text = |name| self.get(name).map(str::to_owned);
        let client_secret = text("MCP_CLIENT_SECRET");
        let token_url = text("MCP_TOKEN_URL");
        let scope = text("MCP_SCOPE");
        if token_url.as_deref().is_some_and(|url| !is_address(url)) {
            self.report.value("MCP_TOKEN_URL", NO_ADDRESS);
        }
        // A secret is of no use without the name that it belongs to.
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

    fn settings(&mut self, paths: &Paths) -> Settings {
        Settings {
            timeouts: self.timeouts(),
            backoff: self.backoff(),
            max_frame: self.number("MCP_MAX_FRAME").map(size),
            revisions: None,
            roots: self.roots(paths),
        }
    }

    fn timeouts(&mut self) -> Option<Timeouts> {
        let request = self.time("MCP_TIMEOUT");
        let opening = self.time("MCP_INIT_TIMEOUT");
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
            timeouts.opening = Duration::from_millis(ms);
        }
        Some(timeouts)
    }

    fn backoff(&mut self) -> Option<Backoff> {
        let (min, max) = (self.time("MCP_BACKOFF_MIN"), self.time("MCP_BACKOFF_MAX"));
        if min.is_none() && max.is_none() {
            return None;
        }
        let backoff = backoff_between(min, max);
        if let Err(why) = &backoff {
            self.report.value("MCP_BACKOFF_MIN", why);
        }
        backoff.ok()
    }

    fn roots(&mut self, paths: &Paths) -> Option<Vec<Root>> {
        let commas = |text: &str| {
            let places = text.split(',').map(|place| place.trim().to_owned());
            Some(places.filter(|place| !place.is_empty()).collect())
        };
        let mut roots = Vec::new();
        for place in self.list("MCP_ROOTS", commas)? {
            match paths.root(&place) {
                Ok(root) => roots.push(root),
                Err(why) => self.report.value("MCP_ROOTS", why),
            }
        }
        Some(roots)
    }

    fn required(&mut self, name: &'static str) -> Option<String> {
        let value = self.get(name).map(str::to_owned);
        if value.is_none() {
            self.report.add(name, ProblemKind::Unset(name.to_owned()));
        }
        value
    }

    /// A JSON list of strings, or what `split` makes of the text.
    fn list(
        &mut self,
        name: &str,
        split: impl Fn(&str) -> Option<Vec<String>>,
    ) -> Option<Vec<String>> {
        let text = self.get(name)?.trim();
        let list = if text.starts_with('[') {
            serde_json::from_str::<Vec<String>>(text).ok()
        } else {
            split(text)
        };
        if list.is_none() {
            let why = "this is neither a JSON list of strings nor plain words";
            self.report.value(name, why);
        }
        list
    }

    fn variables(&mut self) -> Option<BTreeMap<String, String>> {
        let text = self.get("MCP_ENV")?.trim();
        let variables = if text.starts_with('{') {
            serde_json::from_str::<Value>(text).ok().and_then(members)
        } else {
            words::split(text).and_then(assignments)
        };
        if variables.is_none() {
            let why = "this is neither a JSON object of strings nor words NAME=value";
            self.report.value("MCP_ENV", why);
        }
        variables
    }

    /// A time in milliseconds, unless it has a unit.
    fn time(&mut self, name: &str) -> Option<u64> {
        let text = self.get(name)?.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match text[digits.len()..].trim() {
            "" | "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        let number = digits.trim().parse::<u64>().ok();
        let time = factor.and_then(|factor| number?.checked_mul(factor));
        let time = time.filter(|&ms| ms > 0);
        if time.is_none() {
            let why = "a time above zero is expected, such as 500ms, 30s or 2m";
            self.report.value(name, why);
        }
        time
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.get(name).map(str::trim) {
            None | Some("0" | "false" | "no") => false,
            Some("1" | "true" | "yes") => true,
            Some(_) => {
                self.report.value(name, "1 or 0 is expected");
                false
            }
        }
    }

    fn number(&mut self, name: &str) -> Option<u64> {
        let number = self.get(name)?.trim().parse().ok().filter(|&it| it > 0);
        if number.is_none() {
            self.report
                .value(name, "a whole number above zero is expected");
        }
        number
    }
}

fn members(value: Value) -> Option<BTreeMap<String, String>> {
    let Value::Object(members) = value else {
        return None;
    };
    let text = |(name, value)| match value {
        Value::String(value) => Some((name, value)),
        _ => None,
    };
    members.into_iter().map(text).collect()
}

fn assignments(words: Vec<String>) -> Option<BTreeMap<String, String>> {
    let assignment = |word: String| {
        let (name, value) = word.split_once('=')?;
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    words.into_iter().map(assignment).collect()
}
