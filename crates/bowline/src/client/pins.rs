//! Pinned tools: calls only to tools as they were reviewed.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{Mutex, MutexGuard},
    time::{Instant, timeout},
};

use super::{Client, Error, Health, Notification, Notifications, list};
use crate::{
    lock::{Change, ChangeKind, ItemKind, LockedServer, LockedTool},
    proto::{
        client::{CallOptions, CallPolicy, ConnectionState, Failure, ProgressMode, SessionNumber},
        model::{ListToolsParams, Tool, method},
    },
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

    /// Accepts changes of the reviewed tools up to this kind.
    ///
    /// [`ChangeKind::TextOnly`] and every kind above it accept descriptions that nobody
    /// has read, and a model follows them. [`ChangeKind::Breaking`] also accepts calls of
    /// tools that the server no longer lists. New tools are always refused, since nobody
    /// has reviewed them.
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
    /// compares the tool with what was reviewed. The options are those of the call.
    /// Returns how long this took.
    pub(crate) async fn check(
        &self,
        client: &Client,
        tool: &str,
        options: &CallOptions,
    ) -> Result<Duration, Error> {
        let started = Instant::now();
        let limit = timeout_of(client, options);
        let left = limit.saturating_sub(options.elapsed);
        let change = timeout(left, self.change(client, tool, options, left)).await;
        let elapsed = started.elapsed();
        let timed_out = || {
            let failure = Failure::Timeout { after: limit };
            Err(Error::failed(method::TOOLS_CALL, failure))
        };
        let change = match change {
            Err(_) => return timed_out(),
            // The list has the same limit, and may reach it first.
            Ok(Err(error)) if error.is_timeout() && elapsed >= left => return timed_out(),
            Ok(change) => change?,
        };
        match change.filter(|change| !self.is_allowed(change)) {
            Some(change) => Err(Error::not_as_reviewed(change)),
            None if elapsed >= left => timed_out(),
            None => Ok(elapsed),
        }
    }

    /// Returns how a tool differs from the one that was reviewed.
    async fn change(
        &self,
        client: &Client,
        tool: &str,
        options: &CallOptions,
        timeout: Duration,
    ) -> Result<Option<Change>, Error> {
        let mut latest = self.lock_latest(client, options.policy).await?;
        let is_current = latest
            .as_mut()
            .is_some_and(|review| review.is_current(client));
        if !is_current {
            let options = CallOptions {
                timeout: Some(timeout),
                policy: options.policy,
                retry_on_disconnect: options.retry_on_disconnect,
                session: options.session,
                check_capabilities: options.check_capabilities,
                ..CallOptions::default()
            };
            *latest = Some(self.review(client, options).await?);
        }
        let changes = latest.as_ref().map(|review| &review.changes);
        Ok(match changes.and_then(|changes| changes.get(tool)) {
            Some(change) => Some(change.clone()),
            None if self.pins.server.tools.contains_key(tool) => None,
            // The server has a tool that it does not list.
            None => Some(Change::added(ItemKind::Tool, tool)),
        })
    }

    fn is_allowed(&self, change: &Change) -> bool {
        let is_known = self.pins.server.tools.contains_key(&change.name);
        let is_allowed = is_known && change.kind <= self.pins.allowed;
        is_allowed || self.pins.report.is_some()
    }

    /// Waits for its turn to list the tools. A call that does not wait for the
    /// connection does not wait for another that does, either.
    async fn lock_latest(
        &self,
        client: &Client,
        policy: CallPolicy,
    ) -> Result<MutexGuard<'_, Option<Review>>, Error> {
        if policy == CallPolicy::WaitForConnection {
            return Ok(self.latest.lock().await);
        }
        let mut health = client.watch_health();
        let state = tokio::select! {
            biased;
            latest = self.latest.lock() => return Ok(latest),
            down = health.wait_for(|health| health.state != ConnectionState::Ready) => {
                down.map_or(ConnectionState::Closing, |health| health.state)
            }
        };
        let failure = Failure::NotReady {
            state,
            retry_in: None,
        };
        let last_disconnect = client.health().last_disconnect;
        Err(Error::failed(method::TOOLS_CALL, failure).with_last_disconnect(last_disconnect))
    }

    async fn review(&self, client: &Client, options: CallOptions) -> Result<Review, Error> {
        if options.policy == CallPolicy::WaitForConnection {
            // The review belongs to the session that is open then.
            let mut health = client.watch_health();
            let is_open = |health: &Health| health.state == ConnectionState::Ready || health.ended;
            // The client keeps the sender alive.
            let _ = health.wait_for(is_open).await;
        }
        // Before the tools are listed, so no change is missed.
        let notifications = client.subscribe_to_list_changes();
        let session = client.session();
        let tools = list::fetch_all::<ListToolsParams>(client, options.into(), |_| {}).await?;
        let changes = self.pins.changes(&tools.items);
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

/// Returns how long a call of a tool may take, from its start to the first response.
fn timeout_of(client: &Client, options: &CallOptions) -> Duration {
    let timeouts = &client.shared().settings.timeouts;
    let timeout = options.timeout.unwrap_or(timeouts.tool);
    match options.progress {
        ProgressMode::ExtendDeadline { max } => timeout.min(max),
        _ => timeout,
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
