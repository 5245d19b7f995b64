//! What is found out about one server.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bowline::{
    Client, Error,
    proto::{
        Reason,
        client::Server,
        model::{Side, method},
        revision::Era,
    },
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{failure::Failure, output::clean};

/// What is found out about a server.
#[derive(Debug)]
pub(crate) struct Checkup {
    pub(crate) server: Option<Arc<Server>>,
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

impl Checkup {
    /// Asks a server for all that it offers.
    pub(crate) async fn of(client: Client) -> Result<Self, Failure> {
        let (_, round_trip) = round_trip(&client).await?;
        Ok(Self {
            server: client.server(),
            counts: Counts::of(&client).await?,
            round_trip,
        })
    }

    /// What it calls itself, with its version.
    pub(crate) fn identity(&self) -> Option<String> {
        let info = self.server.as_ref()?.info.as_ref()?;
        Some(clean(&format!("{} {}", info.name, info.version)).into_owned())
    }

    /// The revision, and what is special about its era.
    pub(crate) fn protocol(&self) -> Option<String> {
        let revision = self.server.as_ref()?.revision;
        Some(format!("{revision} ({})", era(revision.era())))
    }

    /// Everything that it offers, in words.
    pub(crate) fn offers(&self) -> String {
        let mut offers = self.counts.words();
        let server = self.server.as_ref();
        let has = |capability: &str| server.is_some_and(|server| server.offers(capability));
        let further = [
            ("resources.subscribe", "subscriptions"),
            ("completions", "completions"),
            ("logging", "logging"),
        ];
        let further = further.iter().filter(|(capability, _)| has(capability));
        offers.extend(further.map(|(_, word)| (*word).to_owned()));
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
            "era": server.map(|server| era(server.revision.era())),
            "capabilities": server.map(|server| &server.capabilities),
            "counts": self.counts,
            "round_trip_ms": self.round_trip.as_secs_f64() * 1000.0,
        })
    }
}

/// The name of an era, for people.
fn era(era: Era) -> &'static str {
    match era {
        Era::Handshake => "with sessions",
        Era::Stateless => "stateless",
    }
}

impl Counts {
    async fn of(client: &Client) -> Result<Self, Failure> {
        let (tools, resources, templates, prompts) = tokio::join!(
            client.tools().list(),
            client.resources().list(),
            client.resources().templates(),
            client.prompts().list(),
        );
        Ok(Self {
            tools: count(tools)?,
            resources: count(resources)?,
            templates: count(templates)?,
            prompts: count(prompts)?,
        })
    }

    fn words(self) -> Vec<String> {
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
fn count<T>(listed: Result<Vec<T>, Error>) -> Result<Option<usize>, Failure> {
    match listed {
        Ok(items) => Ok(Some(items.len())),
        Err(error) if lacks(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a server simply does not have what was asked for.
pub(crate) fn lacks(error: &Error) -> bool {
    matches!(
        error.reason(),
        Reason::CapabilityNotSupported | Reason::MethodNotFound
    )
}

/// Times the cheapest request that the server's revision has. Gives its
/// method, too.
pub(crate) async fn round_trip(client: &Client) -> Result<(&'static str, Duration), Failure> {
    let asked = Instant::now();
    client.ping().await?;
    let took = asked.elapsed();
    let server = client.server();
    let has_ping =
        server.is_none_or(|server| server.revision.rules().allows(method::PING, Side::Client));
    Ok(match has_ping {
        true => (method::PING, took),
        false => (method::DISCOVER, took),
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
        assert_eq!(counts.words(), ["2 tools", "1 resource", "0 templates"]);
    }
}
