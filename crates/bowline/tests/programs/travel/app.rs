//! The state of the travel agency in tests.

use std::sync::Arc;

use bowline::Server;

use super::tools::{self, agency::Agency};

/// What the tools use. Clones share the bookings.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) agency: Arc<Agency>,
}

impl App {
    pub(crate) fn new() -> Self {
        Self {
            agency: Arc::new(Agency::with_one_booking()),
        }
    }

    /// The keys that seal conversations are those of the server: there is nothing to
    /// store.
    pub(crate) fn persist_secret(&self) -> Result<(), &str> {
        Ok(())
    }
}

/// Adds the agency to a server.
pub(crate) fn offer(server: Server, app: App) -> Server<App> {
    let server = server
        .title("Bowline Travel")
        .instructions("Search first, then book. The traveller confirms every booking.");
    tools::register(server.state(app))
}
