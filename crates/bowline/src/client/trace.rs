//! Telemetry of clients as `tracing` events.
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
    trace::{emit_event, micros},
};

/// Emits an observation as a `tracing` event.
// tidy: long table, one arm for each observation
pub(crate) fn emit(observation: &Observation) {
    let (client, event, level) = (
        &*observation.client,
        observation.name(),
        level_of(observation),
    );
    match &observation.event {
        Telemetry::RequestStart {
            call,
            correlation,
            method,
        } => {
            emit_event!(level, event, client, call, correlation, method = &**method);
        }
        Telemetry::RequestStop {
            call,
            correlation,
            method,
            duration,
            error_code: refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(
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
            emit_event!(
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
            // The server's standard error is not included.
            let cause = reason.error().map(|cause| cause.kind().to_string());
            let reason = reason.as_str();
            emit_event!(level, event, client, from, to, reason, cause);
        }
        Telemetry::Violation {
            violation: what,
            size,
            limit,
        } => {
            emit_event!(level, event, client, what = ?what, size, limit);
        }
        Telemetry::NotificationReceived { method } => {
            emit_event!(level, event, client, method = &**method);
        }
        Telemetry::NotificationDropped { method } => {
            emit_event!(level, event, client, method = &**method);
        }
        Telemetry::HandlerException { method, error } => {
            emit_event!(level, event, client, method = &**method, error = &**error);
        }
        Telemetry::RetryScheduled { call, sends, delay } => {
            emit_event!(level, event, client, call, sends, micros = micros(*delay));
        }
        Telemetry::RetryExhausted { call } => emit_event!(level, event, client, call),
        Telemetry::CancelSent { id } => emit_event!(level, event, client, id),
        Telemetry::ToolDropped { tool, .. } => emit_event!(level, event, client, tool = &**tool),
        Telemetry::CancelledCallsExpired { count } => emit_event!(level, event, client, count),
        Telemetry::ObservationsLost { count } => emit_event!(level, event, client, count),
        _ => emit_event!(level, event, client),
    }
}

/// Returns the level of an observation by who is responsible: protocol violations are
/// errors, network and server failures of a call are warnings, and caller actions and
/// notifications are informational.
fn level_of(observation: &Telemetry) -> Level {
    match observation {
        Telemetry::RequestStop {
            error_code: Some(code),
            ..
        } => level_of_code(*code),
        Telemetry::RequestException { reason, .. } => level_of_reason(*reason),
        Telemetry::Transition { reason, .. } => match reason {
            TransitionReason::GaveUp(_) => Level::ERROR,
            TransitionReason::Disconnected(_) => Level::WARN,
            _ => Level::INFO,
        },
        Telemetry::Violation {
            violation: Violation::OversizedFrame | Violation::MalformedMessage,
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

/// Returns the level for an error response with this code.
fn level_of_code(code: i64) -> Level {
    match code {
        code::INTERNAL_ERROR | code::PARSE_ERROR | code::INVALID_REQUEST => Level::ERROR,
        _ => Level::INFO,
    }
}

/// Returns the level for a call that ended for this reason.
fn level_of_reason(reason: Reason) -> Level {
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
            client::{ConnectionError, ConnectionErrorKind, ConnectionState},
            http::header::HeaderSchemaErrorKind,
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
            error_code: refused,
        };
        let exception = |reason| Telemetry::RequestException {
            call,
            correlation,
            method: method(),
            duration,
            reason,
        };
        let transition = |reason| Telemetry::Transition {
            from: ConnectionState::Ready,
            to: ConnectionState::Backoff,
            reason,
        };
        let violation = |what| Telemetry::Violation {
            violation: what,
            size: 4,
            limit: Some(3),
        };
        let eof = || ConnectionError::from(ConnectionErrorKind::Eof);
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
            transition(TransitionReason::Disconnected(eof())),
            transition(TransitionReason::GaveUp(eof())),
            violation(Violation::Batch),
            violation(Violation::OversizedFrame),
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
            Telemetry::CancelledCallsExpired { count: 1 },
            Telemetry::ToolDropped {
                tool: "x".into(),
                fault: HeaderSchemaErrorKind::InvalidName,
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
                    event: telemetry,
                });
            }
        });
    }
}
