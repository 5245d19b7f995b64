//! Stopping servers cleanly before the command ends.

use std::{
    mem,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{Client, transport::CloseTracker};
use tokio::task::JoinSet;

use crate::{locks, signals};

/// How long servers may take to exit, unless the command has less time. A
/// server that exits when its input closes takes milliseconds; one that waits
/// for a signal gets it after two seconds, and then has a moment to clean up.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// How long servers may take if the command's timeout has expired: enough to
/// notify a server that is listening.
const MIN_TIMEOUT: Duration = Duration::from_millis(250);

/// Every open connection. The command does not end before they are closed.
#[derive(Clone, Default)]
pub(crate) struct Shutdown {
    clients: Arc<Mutex<Vec<Client>>>,
    links: CloseTracker,
}

impl Shutdown {
    /// Closes this connection too, however the command ends.
    pub(crate) fn register(&self, client: &Client) {
        let mut clients = locks::lock(&self.clients);
        clients.push(client.clone());
    }

    /// Returns the tracker for links that have no client.
    pub(crate) fn links(&self) -> CloseTracker {
        self.links.clone()
    }

    /// Stops all connections and waits until their servers have exited: for a
    /// limited time, only slightly longer than `remaining`, and no longer than
    /// until the next Ctrl-C.
    pub(crate) async fn wait(&self, remaining: Option<Duration>) {
        let timeout = clamped_timeout(remaining);
        let clients = {
            let mut clients = locks::lock(&self.clients);
            mem::take(&mut *clients)
        };
        let mut tasks = JoinSet::new();
        for client in clients {
            tasks.spawn(async move { client.stop_and_wait(timeout).await });
        }
        let links = self.links();
        tasks.spawn(async move { links.wait(timeout).await });
        tokio::select! {
            _ = tasks.join_all() => {}
            _ = signals::received() => {}
        }
    }
}

fn clamped_timeout(remaining: Option<Duration>) -> Duration {
    remaining.map_or(SHUTDOWN_TIMEOUT, |remaining| {
        remaining.clamp(MIN_TIMEOUT, SHUTDOWN_TIMEOUT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_command_is_also_for_its_end() {
        let seconds = Duration::from_secs;
        assert_eq!(clamped_timeout(None), SHUTDOWN_TIMEOUT);
        assert_eq!(clamped_timeout(Some(seconds(20))), SHUTDOWN_TIMEOUT);
        assert_eq!(clamped_timeout(Some(seconds(1))), seconds(1));
        assert_eq!(clamped_timeout(Some(Duration::ZERO)), MIN_TIMEOUT);
    }
}
