//! What the server's tools share.

use bowline::server::Service;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The state of the application: a way to say that lists have changed.
#[derive(Debug)]
pub struct App {
    changes: UnboundedSender<Change>,
}

/// A list that has changed.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Tools,
    Prompts,
}

impl App {
    /// The state, and what hears of changes.
    pub fn new() -> (Self, Changes) {
        let (changes, receiver) = unbounded_channel();
        (Self { changes }, Changes(receiver))
    }

    pub fn changed(&self, change: Change) {
        // Nobody is left to be told when the server is gone.
        let _ = self.changes.send(change);
    }
}

/// Hears of changes.
#[derive(Debug)]
pub struct Changes(UnboundedReceiver<Change>);

impl Changes {
    /// Tells the clients of a service, for as long as there is an application.
    pub async fn announce(mut self, service: Service<App>) {
        while let Some(change) = self.0.recv().await {
            match change {
                Change::Tools => service.tools_changed(),
                Change::Prompts => service.prompts_changed(),
            }
        }
    }
}
