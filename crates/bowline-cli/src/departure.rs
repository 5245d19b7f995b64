//! Leaving servers in good order before the command ends.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline::{Client, transport::CloseTracker};
use tokio::task::JoinSet;

/// How long servers may take to end. One that cleans up and ends when its input
/// does takes milliseconds; one that waits for a signal gets it after two
/// seconds, and a moment for its own cleaning up.
const LIMIT: Duration = Duration::from_secs(3);

/// Everything that was connected to: the command does not end before that has.
#[derive(Clone, Default)]
pub(crate) struct Departure {
    clients: Arc<Mutex<Vec<Client>>>,
    links: CloseTracker,
}

impl Departure {
    /// Sees to the end of this connection, too, however the command ends.
    pub(crate) fn includes(&self, client: &Client) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push(client.clone());
    }

    /// Where links without a client say what they still do.
    pub(crate) fn links(&self) -> CloseTracker {
        self.links.clone()
    }

    /// Stops what is still connected, and waits for the end of all servers, but
    /// not for long; and no longer than until the next Ctrl-C.
    pub(crate) async fn wait(&self) {
        let clients = {
            let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
            mem::take(&mut *clients)
        };
        let mut ends = JoinSet::new();
        for client in clients {
            ends.spawn(async move { client.stop_and_wait(LIMIT).await });
        }
        let links = self.links();
        ends.spawn(async move { links.wait(LIMIT).await });
        tokio::select! {
            _ = ends.join_all() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}
