//! Stopping, with or without waiting for the server's end.

use std::time::Duration;

use super::Client;
use crate::{proto::client::Connection, transport::StopOutcome};

impl Client {
    /// Stops: every caller is answered at once, and the server is let go.
    /// Waits until that is done, which takes a tenth of a second at most.
    ///
    /// What the server does then is not waited for: a child process may still
    /// clean up, and the end of a session over HTTP may not have been told yet.
    /// A program that ends now cuts both off; before its end it should use
    /// [`stop_and_wait`](Self::stop_and_wait).
    pub async fn stop(&self) {
        self.shared().command(Connection::stop);
        let mut health = self.watch_health();
        let _ = health.wait_for(|health| health.ended).await;
    }

    /// Stops, and waits for the server's end, for `limit` at most: until the
    /// child process has cleaned up and ended, until the server has confirmed
    /// the end of the session. What is not done by then is cut off at once.
    ///
    /// Honest servers take milliseconds. The limit is for the others.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(client: &bowline::Client) {
    /// use bowline::transport::StopOutcome;
    ///
    /// if client.stop_and_wait(Duration::from_secs(5)).await == StopOutcome::Forcefully {
    ///     eprintln!("the server did not end when it was asked to");
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
