//! The observers of a client: the application's callback, and `tracing`.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::SystemTime,
};

use super::{Observation, host::Host};
use crate::proto::client::TelemetryEvent;

/// A telemetry callback.
pub(crate) type Observer = Arc<dyn Fn(&Observation) + Send + Sync>;

impl Host {
    /// Creates an observation of this client, made now.
    pub(crate) fn observation(&self, event: TelemetryEvent) -> Observation {
        Observation {
            client: Arc::clone(&self.name),
            at: SystemTime::now(),
            event,
        }
    }

    /// Returns whether there are any observers.
    pub(crate) fn has_observers(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::tracing_events::has_subscriber() {
            return true;
        }
        self.observer.is_some()
    }

    /// Passes an observation to the observers. They are foreign code called from ours:
    /// a panic must not escape, or callers would wait forever. No lock may be held.
    pub(super) fn observe(&self, observation: &Observation) {
        #[cfg(feature = "tracing")]
        let _ = catch_unwind(AssertUnwindSafe(|| {
            super::tracing_events::emit(observation);
        }));
        if let Some(observer) = &self.observer {
            let _ = catch_unwind(AssertUnwindSafe(|| observer(observation)));
        }
    }
}
