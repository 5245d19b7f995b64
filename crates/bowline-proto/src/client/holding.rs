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
    pub(super) fn hold_calls(&mut self, now: Instant) {
        for id in self.calls.ids() {
            let most = self.config.max_rounds;
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let may_ask = call.info.is_some_and(|info| info.input_rounds);
            if call.wire().is_none() || !may_ask || call.holds >= most {
                continue;
            }
            call.holds += 1;
            call.held = true;
            let deadline = call.deadline.max(now + self.config.timeouts.input);
            self.set_deadline(id, deadline);
        }
    }

    /// Nothing is asked any more: it is the server's turn, with its full time.
    pub(super) fn release_calls(&mut self, now: Instant) {
        for id in self.calls.ids() {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            if !std::mem::take(&mut call.held) {
                continue;
            }
            call.cap = call.options.progress.cap(now);
            let deadline = now + call.timeout;
            self.set_deadline(id, deadline);
        }
    }
}
