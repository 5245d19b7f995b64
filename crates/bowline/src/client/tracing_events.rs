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
        client::{TelemetryEvent, TransitionReason, Violation},
        jsonrpc::code,
    },
    tracing_events::{emit_event, micros},
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
        TelemetryEvent::RequestStart {
            call,
            correlation,
            method,
        } => {
            emit_event!(level, event, client, call, correlation, method = &**method);
        }
        TelemetryEvent::RequestStop {
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
        TelemetryEvent::RequestException {
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
        TelemetryEvent::Transition { from, to, reason } => {
            let (from, to) = (from.as_str(), to.as_str());
            // The server's standard error is not included.
            let cause = reason.error().map(|cause| cause.kind().to_string());
            let reason = reason.as_str();
            emit_event!(level, event, client, from, to, reason, cause);
        }
        TelemetryEvent::Violation {
            violation: what,
            size,
            limit,
        } => {
            emit_event!(level, event, client, what = ?what, size, limit);
        }
        TelemetryEvent::NotificationReceived { method } => {
            emit_event!(level, event, client, method = &**method);
        }
        TelemetryEvent::NotificationDropped { method } => {
            emit_event!(level, event, client, method = &**method);
        }
        TelemetryEvent::HandlerException { method, error } => {
            emit_event!(level, event, client, method = &**method, error = &**error);
        }
        TelemetryEvent::RetryScheduled { call, sends, delay } => {
            emit_event!(level, event, client, call, sends, micros = micros(*delay));
        }
        TelemetryEvent::RetryExhausted { call } => emit_event!(level, event, client, call),
        TelemetryEvent::CancelSent { id } => emit_event!(level, event, client, id),
        TelemetryEvent::ToolDropped { tool, .. } => {
            emit_event!(level, event, client, tool = &**tool);
        }
        TelemetryEvent::CancelledCallsExpired { count } => emit_event!(level, event, client, count),
        TelemetryEvent::ObservationsLost { count } => emit_event!(level, event, client, count),
        _ => emit_event!(level, event, client),
    }
}

/// Returns the level of an observation by who is responsible: protocol violations are
/// errors, network and server failures of a call are warnings, and caller actions and
/// notifications are informational.
fn level_of(observation: &TelemetryEvent) -> Level {
    match observation {
        TelemetryEvent::RequestStop {
            error_code: Some(code),
            ..
        } => level_of_code(*code),
        TelemetryEvent::RequestException { reason, .. } => level_of_reason(*reason),
        TelemetryEvent::Transition { reason, .. } => match reason {
            TransitionReason::GaveUp(_) => Level::ERROR,
            TransitionReason::Disconnected(_) => Level::WARN,
            _ => Level::INFO,
        },
        TelemetryEvent::Violation {
            violation: Violation::OversizedFrame | Violation::MalformedMessage,
            ..
        }
        | TelemetryEvent::HandlerException { .. } => Level::ERROR,
        TelemetryEvent::Violation { .. }
        | TelemetryEvent::NotificationDropped { .. }
        | TelemetryEvent::RetryExhausted { .. }
        | TelemetryEvent::ObservationsLost { .. }
        | TelemetryEvent::ToolDropped { .. } => Level::WARN,
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
        tracing_events::capture::assert_documented,
    };

    /// One of each kind, and one for each level that a kind can have.
    // tidy: long table, one entry for each observation
    fn all() -> Vec<TelemetryEvent> {
        let (call, correlation, duration) = (1, 2, Duration::from_millis(3));
        let method = || "tools/call".into();
        let stop = |refused| TelemetryEvent::RequestStop {
            call,
            correlation,
            method: method(),
            duration,
            error_code: refused,
        };
        let exception = |reason| TelemetryEvent::RequestException {
            call,
            correlation,
            method: method(),
            duration,
            reason,
        };
        let transition = |reason| TelemetryEvent::Transition {
            from: ConnectionState::Ready,
            to: ConnectionState::Backoff,
            reason,
        };
        let violation = |what| TelemetryEvent::Violation {
            violation: what,
            size: 4,
            limit: Some(3),
        };
        let eof = || ConnectionError::from(ConnectionErrorKind::Eof);
        vec![
            TelemetryEvent::RequestStart {
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
            TelemetryEvent::NotificationReceived { method: "x".into() },
            TelemetryEvent::NotificationDropped { method: method() },
            TelemetryEvent::HandlerException {
                method: "x".into(),
                error: "y".into(),
            },
            TelemetryEvent::UnknownResponse,
            TelemetryEvent::LateResponse,
            TelemetryEvent::StaleLink,
            TelemetryEvent::RetryScheduled {
                call,
                sends: 2,
                delay: duration,
            },
            TelemetryEvent::RetryExhausted { call },
            TelemetryEvent::CancelSent { id: 1 },
            TelemetryEvent::CancelledCallsExpired { count: 1 },
            TelemetryEvent::ToolDropped {
                tool: "x".into(),
                fault: HeaderSchemaErrorKind::InvalidName,
            },
            TelemetryEvent::ObservationsLost { count: 1 },
        ]
    }

    #[test]
    fn every_event_is_as_the_guide_has_it() {
        assert_documented("## Events of clients", TelemetryEvent::NAMES, || {
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
