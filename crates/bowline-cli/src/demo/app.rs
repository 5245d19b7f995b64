//! The state shared by all handlers of the demo.

use std::io::{self, Write as _};

use super::{secret::Secret, travel::agency::Agency};

/// The state of the server.
#[derive(Debug)]
pub(crate) struct App {
    pub(super) agency: Agency,
    pub(super) secret: Secret,
    location: ServerLocation,
}

/// Where the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerLocation {
    /// In the client's process, which must not be harmed.
    InProcess,
    /// In its own process.
    ChildProcess,
}

impl App {
    pub(super) fn new(location: ServerLocation) -> io::Result<Self> {
        Ok(Self {
            agency: Agency::with_one_booking(),
            secret: Secret::for_user()?,
            location,
        })
    }

    /// Stores the secret for other processes; see [`Secret::persist`].
    pub(super) fn persist_secret(&self) -> Result<(), &str> {
        self.secret.persist()
    }

    /// Returns whether the process may be ended without harming the client.
    pub(super) fn has_own_process(&self) -> bool {
        self.location == ServerLocation::ChildProcess
    }

    /// Writes a line to standard error, if the server has its own process.
    /// Write errors are ignored.
    pub(super) fn log_to_stderr(&self, line: &str) {
        if self.has_own_process() {
            let _ = writeln!(io::stderr(), "demo: {line}");
        }
    }
}
