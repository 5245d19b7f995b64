//! Pinned tools: calls only to tools as they were reviewed.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{Client, Error, Notification, Notifications};
use crate::{
    lock::{Change, ChangeKind, ItemKind, LockedServer, LockedTool},
    proto::{client::SessionNumber, model::Tool},
};

/// How long a review is valid where there is no session whose end would end it.
const MAX_AGE: Duration = Duration::from_secs(60);

type ReportFn = dyn Fn(&Change) + Send + Sync;

/// The tools of a server as they were reviewed, and what happens to others. See
/// [`ClientBuilder::pinned`](super::ClientBuilder::pinned).
#[derive(Clone)]
pub struct Pins {
    server: LockedServer,
    allowed: ChangeKind,
    report: Option<Arc<ReportFn>>,
}

impl Pins {
    /// Refuses calls of tools that are not as they were reviewed.
    #[must_use]
    pub fn new(server: LockedServer) -> Self {
        Self {
            server,
            allowed: ChangeKind::Identical,
            report: None,
        }
    }

    /// Accepts changes up to this kind. [`ChangeKind::TextOnly`] accepts descriptions that
    /// nobody has read, which a model follows; so does every kind above it.
    #[must_use]
    pub fn allow(mut self, kind: ChangeKind) -> Self {
        self.allowed = kind;
        self
    }

    /// Refuses nothing, and calls a function with each change instead, whenever the
    /// tools are listed again.
    #[must_use]
    pub fn report(mut self, report: impl Fn(&Change) + Send + Sync + 'static) -> Self {
        self.report = Some(Arc::new(report));
        self
    }

    /// Returns what has changed about the tools since the review.
    fn changes(&self, tools: &[Tool]) -> HashMap<String, Change> {
        let mut current = HashSet::new();
        let mut changes = HashMap::new();
        for tool in tools {
            let name = tool.name.as_str();
            match (LockedTool::new(tool), self.server.tools.get(name)) {
                (Ok(tool), Some(reviewed)) => {
                    let change = reviewed.compare(name, &tool);
                    changes.extend(change.map(|change| (name.to_owned(), change)));
                }
                // A schema that cannot be read is not the one that was reviewed.
                (Err(_), Some(_)) => {
                    let change = Change::unreadable(ItemKind::Tool, name);
                    changes.insert(name.to_owned(), change);
                }
                (_, None) => {
                    changes.insert(name.to_owned(), Change::added(ItemKind::Tool, name));
                }
            }
            current.insert(name);
        }
        let removed = self.server.tools.keys();
        let removed = removed.filter(|name| !current.contains(name.as_str()));
        changes.extend(removed.map(|name| (name.clone(), Change::removed(ItemKind::Tool, name))));
        changes
    }
}

impl From<LockedServer> for Pins {
    fn from(server: LockedServer) -> Self {
        Self::new(server)
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pins")
            .field("tools", &self.server.tools.len())
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

/// The pins of a client, and the latest comparison with what the server lists.
#[derive(Debug)]
pub(crate) struct PinnedTools {
    pins: Pins,
    /// One caller lists the tools; others wait for it.
    latest: Mutex<Option<Review>>,
}

/// A comparison with what the server listed.
#[derive(Debug)]
struct Review {
    session: Option<SessionNumber>,
    at: Instant,
    changes: HashMap<String, Change>,
    /// What has arrived since before the tools were listed.
    notifications: Notifications,
}

impl PinnedTools {
    pub(crate) fn new(pins: Pins) -> Self {
        Self {
            pins,
            latest: Mutex::new(None),
        }
    }

    /// Lists the tools, unless that was done and nothing has changed since, and
    /// compares the tool with what was reviewed.
    pub(crate) async fn check(&self, client: &Client, tool: &str) -> Result<(), Error> {
        let mut latest = self.latest.lock().await;
        let is_current = latest
            .as_mut()
            .is_some_and(|review| review.is_current(client));
        if !is_current {
            *latest = Some(self.review(client).await?);
        }
        let changes = latest.as_ref().map(|review| &review.changes);
        let change = match changes.and_then(|changes| changes.get(tool)) {
            Some(change) => change.clone(),
            None if self.pins.server.tools.contains_key(tool) => return Ok(()),
            // The server has a tool that it does not list.
            None => Change::added(ItemKind::Tool, tool),
        };
        let is_known = self.pins.server.tools.contains_key(tool);
        let is_allowed = is_known && change.kind <= self.pins.allowed;
        match is_allowed || self.pins.report.is_some() {
            true => Ok(()),
            false => Err(Error::not_as_reviewed(change)),
        }
    }

    async fn review(&self, client: &Client) -> Result<Review, Error> {
        // Before the tools are listed, so no change is missed.
        let notifications = client.subscribe_to_list_changes();
        let session = client.session();
        let tools = client.tools().list().await?;
        let changes = self.pins.changes(&tools);
        if let Some(report) = &self.pins.report {
            changes.values().for_each(|change| report(change));
        }
        Ok(Review {
            session,
            at: Instant::now(),
            changes,
            notifications,
        })
    }
}

impl Review {
    fn is_current(&mut self, client: &Client) -> bool {
        let session = client.session();
        let is_fresh = session.is_some() || self.at.elapsed() < MAX_AGE;
        let mut is_changed = false;
        while let Some(notification) = self.notifications.try_next() {
            is_changed |= matches!(
                notification,
                Notification::ToolsChanged
                    | Notification::Resubscribed { .. }
                    | Notification::Lost(_)
            );
        }
        session == self.session && is_fresh && !is_changed
    }
}
