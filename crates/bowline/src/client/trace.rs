//! What happens inside, for `tracing`.
//!
//! Every event has the target `bowline`, a field `event` with its stable name,
//! and a field `client` with the name of the client. Payloads never appear: no
//! parameters, no results, no environment.

use std::time::Duration;

use tracing::Level;

use super::Observation;
use crate::proto::{
    Reason,
    client::{Telemetry, TransitionReason, Violation},
    jsonrpc::code,
};

/// One event, at a level that is known when it happens only.
macro_rules! say {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            Level::ERROR => tracing::error!(target: "bowline", $($fields)*),
            Level::WARN => tracing::warn!(target: "bowline", $($fields)*),
            Level::INFO => tracing::info!(target: "bowline", $($fields)*),
            _ => tracing::debug!(target: "bowline", $($fields)*),
        }
    };
}

/// Hands an observation to whoever subscribes to `tracing`.
// tidy: long table, one arm for each observation
pub(crate) fn emit(seen: &Observation) {
    let (client, event, level) = (&*seen.client, seen.name(), level(seen));
    match &seen.telemetry {
        Telemetry::RequestStart {
            call,
            correlation,
            method,
        } => {
            say!(level, event, client, call, correlation, method = &**method);
        }
        Telemetry::RequestStop {
            call,
            correlation,
            method,
            duration,
            refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(
                level,
                event,
                client,
                call,
                correlation,
                method,
                micros,
                refused
            );
        }
        Telemetry::RequestException {
            call,
            correlation,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(
                level,
                event,
                client,
                call,
                correlation,
                method,
                micros,
                reason = ?reason
            );
        }
        Telemetry::Transition { from, to, reason } => {
            let (from, to) = (from.as_str(), to.as_str());
            // What the server wrote to stderr is its own business.
            let cause = reason.cause().map(|cause| cause.kind().to_string());
            let reason = reason.as_str();
            say!(level, event, client, from, to, reason, cause);
        }
        Telemetry::Violation { what, size, limit } => {
            say!(level, event, client, what = ?what, size, limit);
        }
        Telemetry::NotificationReceived { method } => {
            say!(level, event, client, method = &**method);
        }
        Telemetry::NotificationDropped { method } => {
            say!(level, event, client, method = &**method);
        }
        Telemetry::HandlerException { method, error } => {
            say!(level, event, client, method = &**method, error = &**error);
        }
        Telemetry::RetryScheduled { call, sends, delay } => {
            say!(level, event, client, call, sends, micros = micros(*delay));
        }
        Telemetry::RetryExhausted { call } => say!(level, event, client, call),
        Telemetry::CancelSent { id } => say!(level, event, client, id),
        Telemetry::ToolDropped { tool, .. } => say!(level, event, client, tool = &**tool),
        Telemetry::TombstonesSwept { count } => say!(level, event, client, count),
        Telemetry::ObservationsLost { count } => say!(level, event, client, count),
        _ => say!(level, event, client),
    }
}

/// How much an observation matters, by who is to blame: what breaks the
/// protocol is an error, what a network or a server does to a call is a
/// warning, and what a caller did or was told is for information.
fn level(seen: &Telemetry) -> Level {
    match seen {
        Telemetry::RequestStop {
            refused: Some(code),
            ..
        } => refusal(*code),
        Telemetry::RequestException { reason, .. } => weight(*reason),
        Telemetry::Transition { reason, .. } => match reason {
            TransitionReason::GaveUp(_) => Level::ERROR,
            TransitionReason::Fell(_) => Level::WARN,
            _ => Level::INFO,
        },
        Telemetry::Violation {
            what: Violation::Oversize | Violation::Garbage,
            ..
        }
        | Telemetry::HandlerException { .. } => Level::ERROR,
        Telemetry::Violation { .. }
        | Telemetry::NotificationDropped { .. }
        | Telemetry::RetryExhausted { .. }
        | Telemetry::ObservationsLost { .. }
        | Telemetry::ToolDropped { .. } => Level::WARN,
        _ => Level::DEBUG,
    }
}

/// How bad it is that the server refused.
fn refusal(code: i64) -> Level {
    match code {
        code::INTERNAL_ERROR | code::PARSE_ERROR | code::INVALID_REQUEST => Level::ERROR,
        _ => Level::INFO,
    }
}

/// How bad it is that a call ended so.
fn weight(reason: Reason) -> Level {
    match reason {
        Reason::OversizedFrame | Reason::InvalidResponse => Level::ERROR,
        Reason::Timeout
        | Reason::ConnectionClosed
        | Reason::SessionLost
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

    #[test]
    fn a_refusal_weighs_what_its_code_says() {
        assert_eq!(refusal(code::INVALID_PARAMS), Level::INFO);
        assert_eq!(refusal(code::RESOURCE_NOT_FOUND), Level::INFO);
        assert_eq!(refusal(code::INTERNAL_ERROR), Level::ERROR);
    }
}
