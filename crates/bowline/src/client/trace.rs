//! What happens inside, for `tracing`.
//!
//! Every event has the target `bowline`, a field `event` with its stable name,
//! and a field `client` with the name of the client. Payloads never appear: no
//! parameters, no results, no environment.

use tracing::Level;

use super::Observation;
use crate::{
    proto::{
        Reason,
        client::{Telemetry, TransitionReason, Violation},
        jsonrpc::code,
    },
    trace::{micros, say},
};

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

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{
        proto::{
            client::{Cause, CauseKind, StateName},
            http::header::HeaderSchemaFault,
        },
        trace::capture::assert_documented,
    };

    /// One of each kind, and one for each level that a kind can have.
    // tidy: long table, one entry for each observation
    fn all() -> Vec<Telemetry> {
        let (call, correlation, duration) = (1, 2, Duration::from_millis(3));
        let method = || "tools/call".into();
        let stop = |refused| Telemetry::RequestStop {
            call,
            correlation,
            method: method(),
            duration,
            refused,
        };
        let exception = |reason| Telemetry::RequestException {
            call,
            correlation,
            method: method(),
            duration,
            reason,
        };
        let transition = |reason| Telemetry::Transition {
            from: StateName::Ready,
            to: StateName::Backoff,
            reason,
        };
        let violation = |what| Telemetry::Violation {
            what,
            size: 4,
            limit: Some(3),
        };
        let eof = || Cause::from(CauseKind::Eof);
        vec![
            Telemetry::RequestStart {
                call,
                correlation,
                method: method(),
            },
            stop(None),
            stop(Some(code::INVALID_PARAMS)),
            stop(Some(code::INTERNAL_ERROR)),
            exception(Reason::Cancelled),
            exception(Reason::Timeout),
            exception(Reason::InvalidResponse),
            transition(TransitionReason::Stopped),
            transition(TransitionReason::Fell(eof())),
            transition(TransitionReason::GaveUp(eof())),
            violation(Violation::Batch),
            violation(Violation::Oversize),
            Telemetry::NotificationReceived { method: "x".into() },
            Telemetry::NotificationDropped { method: method() },
            Telemetry::HandlerException {
                method: "x".into(),
                error: "y".into(),
            },
            Telemetry::UnknownResponse,
            Telemetry::LateResponse,
            Telemetry::StaleLink,
            Telemetry::RetryScheduled {
                call,
                sends: 2,
                delay: duration,
            },
            Telemetry::RetryExhausted { call },
            Telemetry::CancelSent { id: 1 },
            Telemetry::TombstonesSwept { count: 1 },
            Telemetry::ToolDropped {
                tool: "x".into(),
                fault: HeaderSchemaFault::BadName,
            },
            Telemetry::ObservationsLost { count: 1 },
        ]
    }

    #[test]
    fn every_event_is_as_the_guide_has_it() {
        assert_documented("## Events of clients", Telemetry::NAMES, || {
            for telemetry in all() {
                emit(&Observation {
                    client: "client-1".into(),
                    at: SystemTime::UNIX_EPOCH,
                    telemetry,
                });
            }
        });
    }
}
