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
        server::{Telemetry, Violation},
    },
    trace::{emit_event, micros},
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

/// Emits an observation as a `tracing` event.
// tidy: long table, one arm for each observation
pub(crate) fn emit(observation: &Observation) {
    let (event, level) = (observation.name(), level(observation));
    let (server, connection) = (&*observation.server, observation.connection);
    match &observation.telemetry {
        Telemetry::SessionOpened { revision } => {
            emit_event!(
                level,
                event,
                server,
                connection,
                revision = revision.as_str()
            );
        }
        Telemetry::RequestStart {
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
        Telemetry::RequestStop {
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
        Telemetry::RequestException {
            request,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(level, event, server, connection, request, method, micros, reason = ?reason);
        }
        Telemetry::CallStart { call, method } => {
            emit_event!(level, event, server, connection, call, method = &**method);
        }
        Telemetry::CallStop {
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
        Telemetry::CallException {
            call,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            emit_event!(level, event, server, connection, call, method, micros, reason = ?reason);
        }
        Telemetry::NotificationReceived { method } => {
            emit_event!(level, event, server, connection, method = &**method);
        }
        Telemetry::NotificationDropped { method } => {
            emit_event!(level, event, server, connection, method = &**method);
        }
        Telemetry::Violation {
            violation: what,
            size,
        } => {
            emit_event!(level, event, server, connection, what = ?what, size);
        }
        Telemetry::RequestRefused { code } => emit_event!(level, event, server, connection, code),
        Telemetry::CancelReceived { request } => {
            emit_event!(level, event, server, connection, request);
        }
        Telemetry::CancelSent { call } => emit_event!(level, event, server, connection, call),
        Telemetry::ListenStop { duration } => {
            emit_event!(level, event, server, connection, micros = micros(*duration));
        }
        Telemetry::ObservationsLost { count } => {
            emit_event!(level, event, server, connection, count);
        }
        Telemetry::Draining { requests } => emit_event!(level, event, server, connection, requests),
        _ => emit_event!(level, event, server, connection),
    }
}

/// Returns the level of an observation, by who is responsible: a protocol
/// violation is an error, what a network does to a request is a warning, and
/// what a client did or was sent is informational.
fn level(telemetry: &Telemetry) -> Level {
    match telemetry {
        Telemetry::Violation {
            violation: Violation::OversizedFrame | Violation::MalformedMessage,
            ..
        } => Level::ERROR,
        Telemetry::Violation { .. }
        | Telemetry::NotificationDropped { .. }
        | Telemetry::ObservationsLost { .. } => Level::WARN,
        Telemetry::RequestException { reason, .. } | Telemetry::CallException { reason, .. } => {
            match reason {
                Reason::Timeout | Reason::ConnectionClosed => Level::WARN,
                _ => Level::INFO,
            }
        }
        Telemetry::RequestRefused { .. }
        | Telemetry::SessionOpened { .. }
        | Telemetry::Draining { .. } => Level::INFO,
        _ => Level::DEBUG,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::{proto::revision::Revision, trace::capture::assert_documented};

    /// One of each kind, and one for each level that a kind can have.
    // tidy: long table, one entry for each observation
    fn all() -> Vec<Telemetry> {
        let (request, call, duration) = (1, 1, Duration::from_millis(3));
        let (revision, refused) = (Revision::LATEST, false);
        let method = || "tools/call".into();
        let exception = |reason| Telemetry::RequestException {
            request,
            method: method(),
            duration,
            reason,
        };
        let call_exception = |reason| Telemetry::CallException {
            call,
            method: method(),
            duration,
            reason,
        };
        let violation = |what| Telemetry::Violation {
            violation: what,
            size: 4,
        };
        vec![
            Telemetry::SessionOpened { revision },
            Telemetry::RequestStart {
                request,
                method: method(),
                revision,
            },
            Telemetry::RequestStop {
                request,
                method: method(),
                duration,
                refused,
            },
            exception(Reason::Cancelled),
            exception(Reason::ConnectionClosed),
            Telemetry::RequestRefused { code: -32601 },
            Telemetry::CancelReceived { request },
            Telemetry::NotificationReceived { method: "x".into() },
            Telemetry::NotificationDropped { method: method() },
            Telemetry::ListenStart,
            Telemetry::ListenStop { duration },
            Telemetry::CallStart {
                call,
                method: method(),
            },
            Telemetry::CallStop {
                call,
                method: method(),
                duration,
                refused,
            },
            call_exception(Reason::Cancelled),
            call_exception(Reason::Timeout),
            Telemetry::CancelSent { call },
            Telemetry::UnknownResponse,
            Telemetry::LateResponse,
            violation(Violation::Batch),
            violation(Violation::MalformedMessage),
            Telemetry::Draining { requests: 1 },
            Telemetry::ObservationsLost { count: 1 },
        ]
    }

    #[test]
    fn every_event_is_as_the_guide_has_it() {
        assert_documented("## Events of servers", Telemetry::NAMES, || {
            for telemetry in all() {
                emit(&Observation {
                    server: "acme".into(),
                    connection: 1,
                    at: SystemTime::UNIX_EPOCH,
                    telemetry,
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
