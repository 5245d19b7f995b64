//! What happens inside, for `tracing`.
//!
//! Every event has the target `bowline` and a field `event` with its stable
//! name. Payloads never appear: no parameters, no results, no environment.

use std::time::Duration;

use tracing::Level;

use crate::proto::{
    Reason,
    client::{Telemetry, Violation},
};

macro_rules! say {
    ($level:ident, $seen:expr $(, $($fields:tt)*)?) => {
        tracing::$level!(target: "bowline", event = $seen.name() $(, $($fields)*)?)
    };
}

/// Hands an observation to whoever subscribes to `tracing`.
pub(crate) fn emit(seen: &Telemetry) {
    match seen {
        Telemetry::RequestStart {
            call,
            correlation,
            method,
        } => {
            say!(debug, seen, call, correlation, method = &**method);
        }
        Telemetry::RequestStop {
            call,
            correlation,
            method,
            duration,
            refused,
        } => {
            let micros = micros(*duration);
            say!(
                debug,
                seen,
                call,
                correlation,
                method = &**method,
                micros,
                refused
            );
        }
        Telemetry::RequestException { .. } => exception(seen),
        Telemetry::Transition { from, to } => {
            say!(info, seen, from = from.as_str(), to = to.as_str());
        }
        Telemetry::Violation {
            what: what @ Violation::Oversize,
            size,
        } => {
            say!(error, seen, what = ?what, size);
        }
        Telemetry::Violation { what, size } => say!(warn, seen, what = ?what, size),
        Telemetry::NotificationReceived { method } => say!(debug, seen, method = &**method),
        Telemetry::HandlerException { method } => say!(error, seen, method = &**method),
        Telemetry::NotificationDropped { method } => say!(warn, seen, method = &**method),
        Telemetry::RetryScheduled { call, sends, delay } => {
            say!(debug, seen, call, sends, micros = micros(*delay));
        }
        Telemetry::RetryExhausted { call } => say!(warn, seen, call),
        Telemetry::CancelSent { id } => say!(debug, seen, id),
        Telemetry::ToolDropped { tool, .. } => say!(warn, seen, tool = &**tool),
        Telemetry::TombstonesSwept { count } => say!(debug, seen, count),
        _ => say!(debug, seen),
    }
}

/// A call that ended without an answer.
fn exception(seen: &Telemetry) {
    let Telemetry::RequestException {
        call,
        correlation,
        method,
        duration,
        reason,
    } = seen
    else {
        return;
    };
    let (method, micros) = (&**method, micros(*duration));
    match weight(*reason) {
        Level::ERROR => say!(error, seen, call, correlation, method, micros, reason = ?reason),
        Level::WARN => say!(warn, seen, call, correlation, method, micros, reason = ?reason),
        _ => say!(info, seen, call, correlation, method, micros, reason = ?reason),
    }
}

/// How bad it is that a call ended so.
fn weight(reason: Reason) -> Level {
    match reason {
        Reason::OversizedFrame | Reason::InvalidResponse => Level::ERROR,
        Reason::Timeout
        | Reason::ConnectionClosed
        | Reason::TransportError
        | Reason::Backpressure => Level::WARN,
        _ => Level::INFO,
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_caller_did_is_no_alarm() {
        assert_eq!(weight(Reason::Cancelled), Level::INFO);
        assert_eq!(weight(Reason::CapabilityNotSupported), Level::INFO);
        assert_eq!(weight(Reason::Timeout), Level::WARN);
        assert_eq!(weight(Reason::OversizedFrame), Level::ERROR);
    }
}
