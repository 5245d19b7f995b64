//! Deadlines of calls that wait for the host instead of the server.
//!
//! In the handshake era a server asks questions while a call is open and does not name
//! the call. A person takes longer to answer than a server may take, so the calls that
//! may be meant get the input timeout.

use super::core::Core;
use crate::Instant;

impl Core {
    /// Extends deadlines while the host is being asked. Each call is extended at most
    /// `max_input_rounds` times, so a server that never stops asking cannot keep a call
    /// open forever.
    pub(super) fn pause_deadlines(&mut self, now: Instant) {
        for id in self.calls.ids() {
            let max_pauses = self.config.max_input_rounds;
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let supports_input = call.info.is_some_and(|info| info.input_rounds);
            if call.wire_id().is_none() || !supports_input || call.deadline_pauses >= max_pauses {
                continue;
            }
            call.deadline_pauses += 1;
            call.awaits_host = true;
            let deadline = call.deadline.max(now + self.config.timeouts.input);
            self.set_deadline(id, deadline);
        }
    }

    /// Restores the normal timeout once no question is open: the server has its full
    /// time again.
    pub(super) fn resume_deadlines(&mut self, now: Instant) {
        for id in self.calls.ids() {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            if !std::mem::take(&mut call.awaits_host) {
                continue;
            }
            call.max_deadline = call.options.progress.max_deadline(now);
            let deadline = now + call.timeout;
            self.set_deadline(id, deadline);
        }
    }
}
