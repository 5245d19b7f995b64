//! Health check of one server.

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

/// The result of a health check.
#[derive(Debug)]
pub(crate) struct HealthCheck {
    pub(crate) server: Option<Arc<ServerInfo>>,
    pub(crate) counts: Counts,
    /// Round-trip time of the cheapest request.
    pub(crate) round_trip: Duration,
}

/// How many items of each kind a server offers; `None` if it lacks the
/// capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) tools: Option<usize>,
    pub(crate) resources: Option<usize>,
    pub(crate) templates: Option<usize>,
    pub(crate) prompts: Option<usize>,
}

impl HealthCheck {
    /// Connects to a server and lists everything it offers.
    pub(crate) async fn run(client: Client) -> Result<Self, Failure> {
        let (_, round_trip) = round_trip(&client).await?;
        Ok(Self {
            server: client.server_info(),
            counts: Counts::fetch(&client).await?,
            round_trip,
        })
    }

    /// Returns the server's name and version.
    pub(crate) fn identity(&self) -> Option<String> {
        let info = self.server.as_ref()?.info.as_ref()?;
        Some(escape_control(&format!("{} {}", info.name, info.version)).into_owned())
    }

    /// Returns the revision and its era.
    pub(crate) fn protocol(&self) -> Option<String> {
        let revision = self.server.as_ref()?.revision;
        Some(format!("{revision} ({})", era_name(revision.era())))
    }

    /// Describes everything the server offers.
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

/// Returns the name of an era.
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

/// Counts the items. Returns `None` if the server lacks the capability, or
/// rejects the method although it declares it.
fn count_items<T>(listed: Result<Vec<T>, Error>) -> Result<Option<usize>, Failure> {
    match listed {
        Ok(items) => Ok(Some(items.len())),
        Err(error) if is_unsupported(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the server does not support the request.
pub(crate) fn is_unsupported(error: &Error) -> bool {
    matches!(
        error.reason(),
        Reason::CapabilityNotSupported | Reason::MethodNotFound
    )
}

/// Treats an unsupported list as empty.
pub(crate) fn or_empty<T>(listed: Result<Vec<T>, Error>) -> Result<Vec<T>, Failure> {
    match listed {
        Err(error) if is_unsupported(&error) => Ok(Vec::new()),
        listed => Ok(listed?),
    }
}

/// Measures the cheapest request of the server's revision. Also returns its
/// method.
pub(crate) async fn round_trip(client: &Client) -> Result<(&'static str, Duration), Failure> {
    let start = Instant::now();
    client.ping().await?;
    let elapsed = start.elapsed();
    let server = client.server_info();
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
