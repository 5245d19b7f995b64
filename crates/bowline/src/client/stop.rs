//! Stopping, with or without waiting for the server to exit.

use std::time::Duration;

use super::Client;
use crate::{proto::client::Connection, transport::StopOutcome};

impl Client {
    /// Stops the client: every call in progress fails with
    /// [`Reason::Shutdown`](crate::Reason::Shutdown), and the connection is closed. Waits
    /// until it is closed, which takes at most 100 ms by default.
    ///
    /// This does not wait for the server: a child process may still be cleaning up, and
    /// the end of an HTTP session may not have been sent yet. If the program exits now,
    /// both are interrupted; use [`stop_and_wait`](Self::stop_and_wait) before exiting.
    pub async fn stop(&self) {
        self.shared().command(Connection::stop);
        let mut health = self.watch_health();
        let _ = health.wait_for(|health| health.ended).await;
    }

    /// Stops the client and waits, for at most `limit`, until the child process has exited
    /// or the server has confirmed the end of the session. After that, the process is
    /// killed, or the session is abandoned.
    ///
    /// Well-behaved servers stop within milliseconds; the limit is for the others.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(client: &bowline::Client) {
    /// use bowline::transport::StopOutcome;
    ///
    /// if client.stop_and_wait(Duration::from_secs(5)).await == StopOutcome::Forced {
    ///     eprintln!("the server did not stop in time");
    /// }
    /// # }
    /// ```
    pub async fn stop_and_wait(&self, limit: Duration) -> StopOutcome {
        let closing = &self.shared().close_tracker;
        closing
            .wait_since(closing.forced_count(), limit, self.stop())
            .await
    }
}
