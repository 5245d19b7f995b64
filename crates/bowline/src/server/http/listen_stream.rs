//! Change notification streams: each has its own machine that handles one
//! request.

use std::{
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Response, StatusCode};

use super::{
    Body, Inner,
    admission::quota_exceeded,
    events::{EventSource, EventStream, write_event_without_id},
    pending_changes::PendingChanges,
    post::{StatelessRequest, principal},
    protected,
    quotas::{BytesPermit, QuotaPermit, RequestPermit},
    response,
};
use crate::{
    proto::{
        jsonrpc::RequestId,
        server::{Connection, Input, RequestKey, errors},
    },
    server::{
        dispatch::request::RequestHandler,
        serve::{FrameSink, SharedConnection},
    },
};

/// Opens a stream of changes, until the client closes it or the server stops.
pub(super) fn serve(
    inner: &Arc<Inner>,
    request: &StatelessRequest<'_>,
    permit: RequestPermit,
) -> Response<Body> {
    let stream_permit = match permit.quota().listen_permit() {
        Ok(stream_permit) => stream_permit,
        Err(why) => return *quota_exceeded(why, "open streams"),
    };
    let handler = &inner.handler;
    let changes = PendingChanges::default();
    let machine = Connection::new(Arc::clone(handler.config()));
    let sink = Box::new(ListenSink(changes.clone()));
    let principal = principal(request.parts);
    let shared =
        SharedConnection::with_sink(machine, sink, handler.serve_options().clone(), principal);
    let frame = request.frame.clone();
    shared.command(|machine, now| machine.handle(now, Input::Frame(frame)));
    match changes.next() {
        // The stream was not opened.
        Some((refused, true)) => response::json_response(StatusCode::OK, refused),
        Some((acknowledged, false)) => {
            inner.connections.register(&shared);
            shared.report_subscription_changes(handler);
            let stream = ListenStream {
                id: request.id.clone(),
                acknowledgment: Some(acknowledged),
                changes,
                shared,
                handler: Arc::clone(handler),
                _permit: stream_permit,
                _bytes: permit.into_bytes_permit(),
            };
            let events = EventStream::new(stream, inner.options.keep_alive_interval);
            response::stream_response(
                events.with_token_lifetime(protected::stream_token_lifetime(request.parts)),
            )
        }
        None => {
            let error = errors::internal_error("The stream could not be opened");
            response::jsonrpc_error(StatusCode::OK, Some(&request.id), &error)
        }
    }
}

/// Receives the frames of the machine.
struct ListenSink(PendingChanges);

impl FrameSink for ListenSink {
    fn send(&mut self, _: Option<RequestKey>, is_response: bool, frame: Bytes) {
        self.0.push(is_response, frame);
    }
}

/// A stream of changes. Dropping it closes it.
struct ListenStream {
    id: RequestId,
    acknowledgment: Option<Bytes>,
    changes: PendingChanges,
    shared: Arc<SharedConnection>,
    handler: Arc<dyn RequestHandler>,
    _permit: QuotaPermit,
    /// The bytes of its subscription filter.
    _bytes: BytesPermit,
}

impl EventSource for ListenStream {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        let next = match self.acknowledgment.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.changes.poll_next(cx)),
        };
        let Some(frame) = next else {
            return Poll::Ready(ControlFlow::Break(()));
        };
        write_event_without_id(&frame, out);
        Poll::Ready(ControlFlow::Continue(()))
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        write_event_without_id(&protected::token_expired_error(&self.id), out);
    }
}

impl Drop for ListenStream {
    fn drop(&mut self) {
        self.shared.close(&self.handler);
    }
}
