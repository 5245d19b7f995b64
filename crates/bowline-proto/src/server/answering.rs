//! Answering the client's requests, once each.

use bytes::Bytes;

use super::{
    Connection, Event, Incoming, Telemetry, Withdrawal, errors,
    requests::{Open, Purpose},
};
use crate::{
    Instant,
    error::Reason,
    jsonrpc::{ErrorObject, RawJson, RequestId, error_response, response_raw},
};

/// An answer to a request of the client's.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A result, as [`encode_result`](super::encode_result) makes it: it is sent
    /// as it is.
    Result(RawJson),
    /// A whole answer, as [`encode_response`](super::encode_response) makes it
    /// for the id of this request: it is sent as it is.
    Response(Bytes),
    /// A refusal.
    Error(ErrorObject),
}

impl Reply {
    /// The frame of the answer to the request with this id, and the error that
    /// it brings, if it does. A result over the limit becomes an error: the
    /// client could not read it.
    #[must_use]
    pub fn encode(self, id: &RequestId, limit: usize) -> (Bytes, Option<ErrorObject>) {
        let (frame, error) = match self {
            Self::Result(result) => (response_raw(id, result.get().as_bytes()), None),
            Self::Response(frame) => (frame, None),
            Self::Error(error) => (error_response(Some(id), &error), Some(error)),
        };
        let size = frame.len();
        if size <= limit {
            return (frame, error);
        }
        let error = errors::internal(&format!(
            "The answer has {size} bytes; the limit is {limit}"
        ));
        (error_response(Some(id), &error), Some(error))
    }
}

impl From<Result<RawJson, ErrorObject>> for Reply {
    fn from(answer: Result<RawJson, ErrorObject>) -> Self {
        match answer {
            Ok(result) => Self::Result(result),
            Err(error) => Self::Error(error),
        }
    }
}

impl From<RawJson> for Reply {
    fn from(result: RawJson) -> Self {
        Self::Result(result)
    }
}

impl From<ErrorObject> for Reply {
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}

impl Connection {
    /// Answers a request. Does nothing if it was answered or called off.
    ///
    /// A result over the frame limit becomes an error: the client could not read
    /// it, and would lose the link by trying.
    pub fn respond(&mut self, now: Instant, request: Incoming, reply: impl Into<Reply>) {
        let Some(open) = self.requests.close(request) else {
            return;
        };
        self.withdraw_calls_of(now, request);
        let limit = self.core.config.max_frame;
        let reply = if self.may_grant(&open) {
            reply.into()
        } else {
            Reply::Error(errors::too_many("subscriptions"))
        };
        let (frame, error) = reply.encode(&open.id, limit);
        let refused = error.is_some();
        self.core.answer(Some(request), frame);
        self.core.observe(|| Telemetry::RequestStop {
            request: request.number,
            method: open.method.clone(),
            duration: now - open.started,
            refused,
        });
        if !refused {
            self.grant(open);
        }
        self.settle(now);
    }

    /// Ends a request without an answer.
    pub(super) fn withdraw(&mut self, now: Instant, request: Incoming, reason: Withdrawal) {
        if let Some(open) = self.requests.close(request) {
            self.withdraw_calls_of(now, request);
            self.withdrawn(now, request, open, reason);
        }
    }

    pub(super) fn withdrawn(
        &mut self,
        now: Instant,
        request: Incoming,
        open: Open,
        reason: Withdrawal,
    ) {
        let why = match reason {
            Withdrawal::ByClient(_) => Reason::Cancelled,
            Withdrawal::LinkClosed => Reason::ConnectionClosed,
            Withdrawal::Shutdown => Reason::Shutdown,
        };
        self.core.observe(|| Telemetry::RequestException {
            request: request.number,
            method: open.method,
            duration: now - open.started,
            reason: why,
        });
        self.core.event(Event::Cancelled { request, reason });
    }

    /// Whether there is still room for what a request asks for. Others like it
    /// may have been granted since it came.
    fn may_grant(&self, open: &Open) -> bool {
        match (&open.purpose, &self.session) {
            (Purpose::Watch(uri), Some(session)) => {
                let max = self.core.config.max_subscriptions;
                session.watched.contains(uri) || session.watched.has_room(uri, max)
            }
            _ => true,
        }
    }

    /// The host granted a request that changes what the client hears of.
    fn grant(&mut self, open: Open) {
        let Some(session) = &mut self.session else {
            return;
        };
        let (uri, is_watched) = match open.purpose {
            Purpose::Plain => return,
            Purpose::Watch(uri) => (uri, true),
            Purpose::Unwatch(uri) => (uri, false),
        };
        let changed = match is_watched {
            true => session.watched.insert(uri.clone()),
            false => session.watched.remove(&uri),
        };
        if changed {
            self.core.event(Event::WatchChanged { uri, is_watched });
        }
    }
}
