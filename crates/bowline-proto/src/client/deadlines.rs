//! Calls that wait for the host rather than for the server.
//!
//! In the handshake era a server asks while a call is open, and does not say
//! which call it asks for. A person takes longer to answer than a server may,
//! so that the calls which may be meant are given the person's time.

use super::core::Core;
use crate::Instant;

impl Core {
    /// The host is asked something. A server that never stops asking cannot
    /// keep a call open for ever: each is held as often as it could be asked
    /// for in rounds.
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

    /// Nothing is asked any more: it is the server's turn, with its full time.
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
