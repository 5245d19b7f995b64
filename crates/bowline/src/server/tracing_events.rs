//! `tracing` events and spans of a server.
//!
//! Every event has the target `bowline`, a field `event` with its stable name,
//! and fields `server` with the name of the server and `connection` with the
//! number of the connection. Each request has a span,
//! in which the author's code runs. Payloads never appear: no parameters, no
//! results, no environment.

use tracing::{Instrument as _, Level, Span};

use super::{
    Observation,
    dispatch::request::{Dispatched, HandlerReply, Request},
};
use crate::{
    proto::{
        Reason,
        server::{TelemetryEvent, Violation},
    },
    tracing_events::{emit_event, micros},
};

/// The span of one request: `request`, with the fields `server`, `method` and
/// `revision`.
pub(crate) fn request_span(server: &str, request: &Request) -> Span {
    span(server, &request.method, request.context.revision().as_str())
}

fn span(server: &str, method: &str, revision: &str) -> Span {
    tracing::info_span!(target: "bowline", "request", server, method, revision)
}

/// Instruments the remaining work on a request with its span.
pub(crate) fn instrument(span: &Span, mut dispatched: Dispatched) -> Dispatched {
    if span.is_disabled() {
        return dispatched;
    }
    if let HandlerReply::Pending(work) = dispatched.reply {
        dispatched.reply = HandlerReply::Pending(Box::pin(work.instrument(span.clone())));
    }
    dispatched
}

/// Emits that a server ignores its cluster, and what is missing.
#[cfg(feature = "cluster")]
pub(crate) fn emit_cluster_ignored(server: &str, missing: &'static str) {
    let event = "cluster.ignored";
    emit_event!(Level::WARN, event, server, missing);
}

/// Emits an observation as a `tracing` event.
// tidy: long table, one arm for each observation
pub(crate) fn emit(observation: &Observation) {
    let (event, level) = (observation.name(), level(observation));
    let (server, connection) = (&*observation.server, observation.connection);
    match &observation.event {
        TelemetryEvent::SessionOpened { revision } => {
            emit_event!(
                level,
                event,
                server,
                connection,
                revision = revision.as_str()
            );
        }
        TelemetryEvent::RequestStart {
            request,
            method,
            revision,
        } => {
            let revision = revision.as_str();
            emit_event!(
                level,
                event,
                server,
                connection,
                request,
                method = &**method,
                revision
            );
        }
        TelemetryEvent::RequestStop {
            request,
            method,
            duration,
            refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(
                level, event, server, connection, request, method, micros, refused
            );
        }
        TelemetryEvent::RequestException {
            request,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(level, event, server, connection, request, method, micros, reason = ?reason);
        }
        TelemetryEvent::CallStart { call, method } => {
            emit_event!(level, event, server, connection, call, method = &**method);
        }
        TelemetryEvent::CallStop {
            call,
            method,
            duration,
            refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(
                level, event, server, connection, call, method, micros, refused
            );
        }
        TelemetryEvent::CallException {
            call,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(level, event, server, connection, call, method, micros, reason = ?reason);
        }
        TelemetryEvent::NotificationReceived { method } => {
            emit_event!(level, event, server, connection, method = &**method);
        }
        TelemetryEvent::NotificationDropped { method } => {
            emit_event!(level, event, server, connection, method = &**method);
        }
        TelemetryEvent::Violation {
            violation: what,
            size,
        } => {
            emit_event!(level, event, server, connection, what = ?what, size);
        }
        TelemetryEvent::RequestRefused { code } => {
            emit_event!(level, event, server, connection, code);
        }
        TelemetryEvent::CancelReceived { request } => {
            emit_event!(level, event, server, connection, request);
        }
        TelemetryEvent::CancelSent { call } => emit_event!(level, event, server, connection, call),
        TelemetryEvent::ListenStop { duration } => {
            emit_event!(level, event, server, connection, micros = micros(*duration));
        }
        TelemetryEvent::ObservationsLost { count } => {
            emit_event!(level, event, server, connection, count);
        }
        TelemetryEvent::Draining { requests } => {
            emit_event!(level, event, server, connection, requests);
        }
        _ => emit_event!(level, event, server, connection),
    }
}

/// Returns the level of an observation, by who is responsible: a protocol
/// violation is an error, what a network does to a request is a warning, and
/// what a client did or was sent is informational.
fn level(telemetry: &TelemetryEvent) -> Level {
    match telemetry {
        TelemetryEvent::Violation {
            violation: Violation::OversizedFrame | Violation::MalformedMessage,
            ..
        } => Level::ERROR,
        TelemetryEvent::Violation { .. }
        | TelemetryEvent::NotificationDropped { .. }
        | TelemetryEvent::ObservationsLost { .. } => Level::WARN,
        TelemetryEvent::RequestException { reason, .. }
        | TelemetryEvent::CallException { reason, .. } => match reason {
            Reason::Timeout | Reason::ConnectionClosed => Level::WARN,
            _ => Level::INFO,
        },
        TelemetryEvent::RequestRefused { .. }
        | TelemetryEvent::SessionOpened { .. }
        | TelemetryEvent::Draining { .. } => Level::INFO,
        _ => Level::DEBUG,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{proto::revision::Revision, tracing_events::capture::assert_documented};

    /// One of each kind, and one for each level that a kind can have.
    // tidy: long table, one entry for each observation
    fn all() -> Vec<TelemetryEvent> {
        let (request, call, duration) = (1, 1, Duration::from_millis(3));
        let (revision, refused) = (Revision::LATEST, false);
        let method = || "tools/call".into();
        let exception = |reason| TelemetryEvent::RequestException {
            request,
            method: method(),
            duration,
            reason,
        };
        let call_exception = |reason| TelemetryEvent::CallException {
            call,
            method: method(),
            duration,
            reason,
        };
        let violation = |what| TelemetryEvent::Violation {
            violation: what,
            size: 4,
        };
        vec![
            TelemetryEvent::SessionOpened { revision },
            TelemetryEvent::RequestStart {
                request,
                method: method(),
                revision,
            },
            TelemetryEvent::RequestStop {
                request,
                method: method(),
                duration,
                refused,
            },
            exception(Reason::Cancelled),
            exception(Reason::ConnectionClosed),
            TelemetryEvent::RequestRefused { code: -32601 },
            TelemetryEvent::CancelReceived { request },
            TelemetryEvent::NotificationReceived { method: "x".into() },
            TelemetryEvent::NotificationDropped { method: method() },
            TelemetryEvent::ListenStart,
            TelemetryEvent::ListenStop { duration },
            TelemetryEvent::CallStart {
                call,
                method: method(),
            },
            TelemetryEvent::CallStop {
                call,
                method: method(),
                duration,
                refused,
            },
            call_exception(Reason::Cancelled),
            call_exception(Reason::Timeout),
            TelemetryEvent::CancelSent { call },
            TelemetryEvent::UnknownResponse,
            TelemetryEvent::LateResponse,
            violation(Violation::Batch),
            violation(Violation::MalformedMessage),
            TelemetryEvent::Draining { requests: 1 },
            TelemetryEvent::ObservationsLost { count: 1 },
        ]
    }

    #[test]
    fn every_event_is_as_the_guide_has_it() {
        assert_documented("## Events of servers", TelemetryEvent::NAMES, || {
            for event in all() {
                emit(&Observation {
                    server: "acme".into(),
                    connection: 1,
                    at: SystemTime::UNIX_EPOCH,
                    event,
                });
            }
        });
    }

    #[test]
    fn every_span_is_as_the_guide_has_it() {
        assert_documented("## Spans of servers", &["request"], || {
            span("acme", "tools/call", "2026-07-28");
        });
    }
}
