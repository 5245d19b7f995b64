//! What is found out about one server.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bowline::{
    Client, Error, Reason,
    model::{Side, method},
    proto::{client::ServerInfo, revision::Era},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{failure::Failure, output::escape_control};

/// What is found out about a server.
#[derive(Debug)]
pub(crate) struct HealthCheck {
    pub(crate) server: Option<Arc<ServerInfo>>,
    pub(crate) counts: Counts,
    /// How long the cheapest request takes.
    pub(crate) round_trip: Duration,
}

/// How much of each kind a server offers; nothing where it has no such kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) tools: Option<usize>,
    pub(crate) resources: Option<usize>,
    pub(crate) templates: Option<usize>,
    pub(crate) prompts: Option<usize>,
}

impl HealthCheck {
    /// Asks a server for all that it offers.
    pub(crate) async fn run(client: Client) -> Result<Self, Failure> {
        let (_, round_trip) = round_trip(&client).await?;
        Ok(Self {
            server: client.server(),
            counts: Counts::fetch(&client).await?,
            round_trip,
        })
    }

    /// What it calls itself, with its version.
    pub(crate) fn identity(&self) -> Option<String> {
        let info = self.server.as_ref()?.info.as_ref()?;
        Some(escape_control(&format!("{} {}", info.name, info.version)).into_owned())
    }

    /// The revision, and what is special about its era.
    pub(crate) fn protocol(&self) -> Option<String> {
        let revision = self.server.as_ref()?.revision;
        Some(format!("{revision} ({})", era_name(revision.era())))
    }

    /// Everything that it offers, in words.
    pub(crate) fn offers(&self) -> String {
        let mut offers = self.counts.describe();
        let server = self.server.as_ref();
        let has = |capability: &str| server.is_some_and(|server| server.has_capability(capability));
        let extra = [
            ("resources.subscribe", "subscriptions"),
            ("completions", "completions"),
            ("logging", "logging"),
        ];
        let extra = extra.iter().filter(|(capability, _)| has(capability));
        offers.extend(extra.map(|(_, word)| (*word).to_owned()));
        match offers.is_empty() {
            true => "nothing".to_owned(),
            false => offers.join(", "),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let server = self.server.as_ref();
        json!({
            "server": server.and_then(|server| server.info.as_ref()),
            "revision": server.map(|server| server.revision.as_str()),
            "era": server.map(|server| era_name(server.revision.era())),
            "capabilities": server.map(|server| &server.capabilities),
            "counts": self.counts,
            "round_trip_ms": self.round_trip.as_secs_f64() * 1000.0,
        })
    }
}

/// The name of an era, for people.
fn era_name(era: Era) -> &'static str {
    match era {
        Era::Handshake => "with sessions",
        Era::Stateless => "stateless",
    }
}

impl Counts {
    async fn fetch(client: &Client) -> Result<Self, Failure> {
        let (tools, resources, templates, prompts) = tokio::join!(
            client.tools().list(),
            client.resources().list(),
            client.resources().templates(),
            client.prompts().list(),
        );
        Ok(Self {
            tools: count_items(tools)?,
            resources: count_items(resources)?,
            templates: count_items(templates)?,
            prompts: count_items(prompts)?,
        })
    }

    fn describe(self) -> Vec<String> {
        let kinds = [
            (self.tools, "tool"),
            (self.resources, "resource"),
            (self.templates, "template"),
            (self.prompts, "prompt"),
        ];
        let words = kinds.into_iter().filter_map(|(count, word)| match count? {
            1 => Some(format!("1 {word}")),
            count => Some(format!("{count} {word}s")),
        });
        words.collect()
    }
}

/// How many there are. A server that lacks the kind, or does not know the
/// method although it should, has none.
fn count_items<T>(listed: Result<Vec<T>, Error>) -> Result<Option<usize>, Failure> {
    match listed {
        Ok(items) => Ok(Some(items.len())),
        Err(error) if is_unsupported(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a server simply does not have what was asked for.
pub(crate) fn is_unsupported(error: &Error) -> bool {
    matches!(
        error.reason(),
        Reason::CapabilityNotSupported | Reason::MethodNotFound
    )
}

/// Times the cheapest request that the server's revision has. Gives its
/// method, too.
pub(crate) async fn round_trip(client: &Client) -> Result<(&'static str, Duration), Failure> {
    let start = Instant::now();
    client.ping().await?;
    let elapsed = start.elapsed();
    let server = client.server();
    let has_ping =
        server.is_none_or(|server| server.revision.rules().allows(method::PING, Side::Client));
    Ok(match has_ping {
        true => (method::PING, elapsed),
        false => (method::DISCOVER, elapsed),
    })
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn counts_in_words() {
        let counts = Counts {
            tools: Some(2),
            resources: Some(1),
            templates: Some(0),
            prompts: None,
        };
        assert_eq!(counts.describe(), ["2 tools", "1 resource", "0 templates"]);
    }
}
