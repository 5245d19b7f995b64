//! Responses to the client's requests, once each.

use bytes::Bytes;

use super::{
    CancelReason, Connection, Event, RequestKey, TelemetryEvent, errors,
    open_requests::{OpenRequest, Purpose},
};
use crate::{
    Instant,
    error::Reason,
    jsonrpc::{ErrorObject, RawJson, RequestId, error_response, response_raw},
};

/// A reply to a client's request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A result, as built by [`encode_result`](super::encode_result). Sent as
    /// it is.
    Result(RawJson),
    /// A complete response, as built by
    /// [`encode_response`](super::encode_response) for the id of this request.
    /// Sent as it is.
    Response(Bytes),
    /// An error.
    Error(ErrorObject),
}

impl Reply {
    /// Returns the response frame for the request with this id, and the error
    /// it contains, if any. A result over the limit becomes an error, because
    /// the client could not read it.
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
        let error = errors::internal_error(&format!(
            "The response of {size} bytes exceeds the limit of {limit} bytes"
        ));
        (error_response(Some(id), &error), Some(error))
    }
}

impl From<Result<RawJson, ErrorObject>> for Reply {
    fn from(outcome: Result<RawJson, ErrorObject>) -> Self {
        match outcome {
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
    /// Answers a request. Does nothing if it was answered or cancelled.
    ///
    /// A result over the frame limit becomes an error: the client could not
    /// read it, and would lose the link by trying.
    pub fn respond(&mut self, now: Instant, request: RequestKey, reply: impl Into<Reply>) {
        let Some(open) = self.requests.close(request) else {
            return;
        };
        self.cancel_child_calls(now, request);
        let limit = self.core.config.max_frame_size;
        let reply = if self.has_capacity_for(&open) {
            reply.into()
        } else {
            Reply::Error(errors::too_many("subscriptions"))
        };
        let (frame, error) = reply.encode(&open.id, limit);
        let refused = error.is_some();
        self.core.send_response(Some(request), frame);
        self.core.observe(|| TelemetryEvent::RequestStop {
            request: request.number,
            method: open.method.clone(),
            duration: now - open.started,
            refused,
        });
        if !refused {
            self.apply_subscription(open);
        }
        self.finish_drain(now);
    }

    /// Ends a request without a response.
    pub(super) fn cancel_request(
        &mut self,
        now: Instant,
        request: RequestKey,
        reason: CancelReason,
    ) {
        if let Some(open) = self.requests.close(request) {
            self.cancel_child_calls(now, request);
            self.request_cancelled(now, request, open, reason);
        }
    }

    pub(super) fn request_cancelled(
        &mut self,
        now: Instant,
        request: RequestKey,
        open: OpenRequest,
        reason: CancelReason,
    ) {
        let cause = match reason {
            CancelReason::Client(_) => Reason::Cancelled,
            CancelReason::LinkClosed => Reason::ConnectionClosed,
            CancelReason::Shutdown => Reason::Shutdown,
        };
        self.core.observe(|| TelemetryEvent::RequestException {
            request: request.number,
            method: open.method,
            duration: now - open.started,
            reason: cause,
        });
        self.core.push_event(Event::Cancelled { request, reason });
    }

    /// Returns whether the limits still allow what a request asks for. Similar
    /// requests may have been granted since it arrived.
    fn has_capacity_for(&self, open: &OpenRequest) -> bool {
        match (&open.purpose, &self.session) {
            (Purpose::Subscribe(uri), Some(session)) => {
                let max = self.core.config.max_subscriptions;
                session.subscribed.contains(uri) || session.subscribed.has_capacity(uri, max)
            }
            _ => true,
        }
    }

    /// Applies a granted request that changes the client's subscriptions.
    fn apply_subscription(&mut self, open: OpenRequest) {
        let Some(session) = &mut self.session else {
            return;
        };
        let (uri, is_subscribed) = match open.purpose {
            Purpose::Other => return,
            Purpose::Subscribe(uri) => (uri, true),
            Purpose::Unsubscribe(uri) => (uri, false),
        };
        let changed = match is_subscribed {
            true => session.subscribed.insert(uri.clone()),
            false => session.subscribed.remove(&uri),
        };
        if changed {
            self.core
                .push_event(Event::SubscriptionChanged { uri, is_subscribed });
        }
    }
}
