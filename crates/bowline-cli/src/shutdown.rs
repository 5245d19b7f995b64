//! Leaving servers in good order before the command ends.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline::{Client, transport::CloseTracker};
use tokio::task::JoinSet;

use crate::signals;

/// How long servers may take to end, unless the command has less time. One that
/// cleans up and ends when its input does takes milliseconds; one that waits for
/// a signal gets it after two seconds, and a moment for its own cleaning up.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// How long they may take where the time of the command is over: enough to say
/// goodbye to a server that listens.
const MIN_TIMEOUT: Duration = Duration::from_millis(250);

/// Everything that was connected to: the command does not end before that has.
#[derive(Clone, Default)]
pub(crate) struct Shutdown {
    clients: Arc<Mutex<Vec<Client>>>,
    links: CloseTracker,
}

impl Shutdown {
    /// Sees to the end of this connection, too, however the command ends.
    pub(crate) fn register(&self, client: &Client) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.push(client.clone());
    }

    /// Where links without a client say what they still do.
    pub(crate) fn links(&self) -> CloseTracker {
        self.links.clone()
    }

    /// Stops what is still connected, and waits for the end of all servers, but
    /// not for long, and hardly longer than the time that is `left` to the
    /// command; and no longer than until the next Ctrl-C.
    pub(crate) async fn wait(&self, remaining: Option<Duration>) {
        let timeout = clamped_timeout(remaining);
        let clients = {
            let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
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
