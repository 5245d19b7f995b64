//! Telemetry observations of a server.

use std::{ops::Deref, sync::Arc, time::SystemTime};

use crate::{observation_queue::Observed, proto::server::TelemetryEvent};

/// A telemetry event of a server, with its context.
///
/// Dereferences to the event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The name of the server.
    pub server: Arc<str>,
    /// The number of the connection in this process: of the link, the HTTP
    /// session or the stream of changes.
    pub connection: u64,
    /// The wall-clock time of the event.
    pub at: SystemTime,
    /// The event.
    pub event: TelemetryEvent,
}

impl Deref for Observation {
    type Target = TelemetryEvent;

    fn deref(&self) -> &TelemetryEvent {
        &self.event
    }
}

impl Observed for Observation {
    fn truncate(&mut self) -> usize {
        self.event.truncate_strings()
    }

    fn lost_marker(&self, count: usize) -> Self {
        Self {
            server: Arc::clone(&self.server),
            event: TelemetryEvent::ObservationsLost { count },
            ..*self
        }
    }
}
