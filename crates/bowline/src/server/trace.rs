//! What happens inside a server, for `tracing`.
//!
//! Every event has the target `bowline`, a field `event` with its stable name,
//! and a field `server` with the name of the server. Each request has a span,
//! in which the author's code runs. Payloads never appear: no parameters, no
//! results, no environment.

use std::time::Duration;

use tracing::{Instrument as _, Level, Span};

use super::request::{Handled, Request, Taken};
use crate::proto::{
    Reason,
    server::{Telemetry, Violation},
};

/// The span of one request: `request`, with the fields `server`, `method` and
/// `revision`.
pub(crate) fn request(server: &str, request: &Request) -> Span {
    let method = &*request.method;
    let revision = request.context.revision().as_str();
    tracing::info_span!(target: "bowline", "request", server, method, revision)
}

/// Has what is left of the work on a request done within its span.
pub(crate) fn instrument(span: &Span, mut taken: Taken) -> Taken {
    if span.is_disabled() {
        return taken;
    }
    if let Handled::Later(work) = taken.handled {
        taken.handled = Handled::Later(Box::pin(work.instrument(span.clone())));
    }
    taken
}

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
pub(crate) fn emit(server: &str, seen: &Telemetry) {
    let (event, level) = (seen.name(), level(seen));
    match seen {
        Telemetry::SessionOpened { revision } => {
            say!(level, event, server, revision = revision.as_str());
        }
        Telemetry::RequestStart {
            request,
            method,
            revision,
        } => {
            let revision = revision.as_str();
            say!(level, event, server, request, method = &**method, revision);
        }
        Telemetry::RequestStop {
            request,
            method,
            duration,
            refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(level, event, server, request, method, micros, refused);
        }
        Telemetry::RequestException {
            request,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(level, event, server, request, method, micros, reason = ?reason);
        }
        Telemetry::CallStart { call, method } => {
            say!(level, event, server, call, method = &**method);
        }
        Telemetry::CallStop {
            call,
            method,
            duration,
            refused,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(level, event, server, call, method, micros, refused);
        }
        Telemetry::CallException {
            call,
            method,
            duration,
            reason,
        } => {
            let (method, micros) = (&**method, micros(*duration));
            say!(level, event, server, call, method, micros, reason = ?reason);
        }
        Telemetry::NotificationReceived { method } => {
            say!(level, event, server, method = &**method);
        }
        Telemetry::NotificationDropped { method } => {
            say!(level, event, server, method = &**method);
        }
        Telemetry::Violation { what, size } => say!(level, event, server, what = ?what, size),
        Telemetry::RequestRefused { code } => say!(level, event, server, code),
        Telemetry::CancelReceived { request } => say!(level, event, server, request),
        Telemetry::CancelSent { call } => say!(level, event, server, call),
        Telemetry::ListenStop { duration } => {
            say!(level, event, server, micros = micros(*duration));
        }
        Telemetry::Draining { requests } => say!(level, event, server, requests),
        _ => say!(level, event, server),
    }
}

/// How much an observation matters, by who is to blame: what breaks the
/// protocol is an error, what a network does to a request is a warning, and
/// what a client did or was told is for information.
fn level(seen: &Telemetry) -> Level {
    match seen {
        Telemetry::Violation {
            what: Violation::Oversize | Violation::Garbage,
            ..
        } => Level::ERROR,
        Telemetry::Violation { .. } | Telemetry::NotificationDropped { .. } => Level::WARN,
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

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
