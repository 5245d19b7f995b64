//! How many tasks there may be, and for how long.

use std::time::Duration;

/// The limits of a server's tasks.
///
/// ```
/// use std::time::Duration;
///
/// use bowline::server::{Server, TaskOptions};
///
/// let options = TaskOptions::new().ttl(Duration::from_secs(3600)).max_per_caller(20);
/// let server = Server::new("render", "1.0.0").task_options(options);
/// # drop(server);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskOptions {
    /// How long a task is kept after its creation, and how long it may run, unless
    /// the client asks for another time. The default is one hour. More than
    /// [`max_ttl`](Self#structfield.max_ttl) is reduced to that.
    pub ttl: Duration,
    /// The longest time that a task is kept, whatever the client asks for. A client that
    /// asks for more gets this. The default is one day.
    pub max_ttl: Duration,
    /// How long clients should wait between two polls of a task. The default is one
    /// second.
    pub poll_interval: Duration,
    /// How many tasks one caller may have at once, including finished tasks that have
    /// not expired. All callers without a principal share one limit. The default is
    /// 10,000.
    pub max_per_caller: usize,
    /// How many tasks run at once in this process. Others wait for their turn. Tasks that
    /// wait for answers do not run. The default is 1,024.
    pub max_running: usize,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            max_ttl: Duration::from_secs(24 * 60 * 60),
            poll_interval: Duration::from_secs(1),
            max_per_caller: 10_000,
            max_running: 1024,
        }
    }
}

impl TaskOptions {
    /// Creates the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a task is kept and may run, unless the client asks for another time.
    /// If this is more than [`max_ttl`](Self::max_ttl), that is raised to the same.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self.max_ttl = self.max_ttl.max(ttl);
        self
    }

    /// Sets the longest time that a task is kept. Whatever is longer is reduced to this:
    /// what a client asks for, and a [`ttl`](Self::ttl) that was set before.
    #[must_use]
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl;
        self
    }

    /// Sets how long clients should wait between two polls of a task.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets how many tasks one caller may have at once.
    #[must_use]
    pub fn max_per_caller(mut self, tasks: usize) -> Self {
        self.max_per_caller = tasks;
        self
    }

    /// Sets how many tasks run at once in this process.
    #[must_use]
    pub fn max_running(mut self, tasks: usize) -> Self {
        self.max_running = tasks;
        self
    }

    /// Returns how long a task is kept for which the client wants this.
    pub(super) fn ttl_for(&self, requested: Option<Duration>) -> Duration {
        requested.unwrap_or(self.ttl).min(self.max_ttl)
    }
}
