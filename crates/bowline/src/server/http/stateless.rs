//! Requests of the stateless era: answered without a session, a task or a
//! machine.

use std::{
    future::{Future as _, poll_fn},
    ops::ControlFlow,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{
    Body, Inner,
    byte_queue::{Receiver, Sender, channel},
    events::{EventSource, EventStream, write_event_without_id},
    post::{StatelessRequest, principal},
    protected::{self, TokenLifetime},
    quotas::RequestPermit,
    request_headers::RequestHeaders,
    response::{self, PendingResponse},
    status::ResponseStatus,
};
use crate::{
    catch_panic::CatchPanic,
    proto::{
        http::header::{decode_value, name, single_value},
        jsonrpc::{RawJson, RequestId, decode},
        model::{LogLevel, Number, method},
        server::{
            Config, Reply, RequestContext, RequestNotifier, discover_result, encode_response,
            errors, stateless::Rejection,
        },
    },
    server::{
        auth::permissions::Permissions,
        conversation::client_channel::ClientChannel,
        dispatch::request::{HandlerReply, Request, RequestOrigin, panic_reply},
    },
    sync,
    transport::BoxFuture,
};

/// Answers `server/discover`.
pub(super) fn discover(
    config: &Config,
    id: &RequestId,
    context: &RequestContext,
) -> Response<Body> {
    match encode_response(context, id, discover_result(config)) {
        Ok(frame) => response::json_response(StatusCode::OK, frame),
        Err(error) => {
            let error = errors::internal_error(&error.to_string());
            response::jsonrpc_error(StatusCode::OK, Some(id), &error)
        }
    }
}

/// Responds with JSON if there is only a response, and with a stream otherwise.
/// Dropping the response or the stream cancels the request.
pub(super) fn serve<'a>(
    inner: &'a Arc<Inner>,
    mut incoming: StatelessRequest<'_>,
    context: RequestContext,
    permit: RequestPermit,
) -> PendingResponse<'a> {
    if let Err(rejection) = check_param_headers(inner, &incoming) {
        return response::rejection_response(Some(&incoming.id), &rejection).into();
    }
    // Work may continue after the client disconnected.
    let permit = Arc::new(permit);
    let mut notifications = None;
    let mut open_channel = |request: &Request| {
        let (sender, receiver) = channel();
        notifications = Some(receiver);
        ClientChannel::Stream(Box::new(StreamChannel {
            inner: Arc::clone(inner),
            context: RequestContext::clone(&request.context),
            notifier: Mutex::default(),
            sender,
        }))
    };
    let request = build_request(&mut incoming, context, &permit);
    let max_frame_size = inner.handler.config().max_frame_size;
    let handler = Arc::clone(&inner.handler);
    let work = match handler.dispatch_untimed(request, &mut open_channel) {
        HandlerReply::Ready(reply) => {
            return complete_response(reply, &incoming.id, max_frame_size).into();
        }
        HandlerReply::Pending(work) => CatchPanic(work),
    };
    let mut stream = ResponseStream {
        first_item: None,
        notifications,
        work: Some(work),
        reply: None,
        shutdown: None,
        token_lifetime: protected::stream_token_lifetime(incoming.parts),
        inner: Arc::clone(inner),
        id: incoming.id,
        max_frame_size,
        _permit: permit,
    };
    // Polled again if not complete, so no wakeup is needed.
    let noop_cx = &mut Context::from_waker(Waker::noop());
    if let Poll::Ready(first) = stream.poll_first(noop_cx) {
        return stream.into_response(first).into();
    }
    PendingResponse::pending(async move {
        let first = poll_fn(|cx| stream.poll_first(cx));
        let first = timeout(inner.options.stream_after, first).await;
        stream.into_response(first.ok().flatten())
    })
}

/// Builds the request for the server, with a permit held until the work has
/// ended.
fn build_request(
    incoming: &mut StatelessRequest<'_>,
    context: RequestContext,
    permit: &Arc<RequestPermit>,
) -> Request {
    Request {
        id: incoming.id.clone(),
        method: incoming.method.to_owned().into(),
        params: incoming.params.take(),
        context: Box::new(context),
        principal: principal(incoming.parts),
        permissions: Permissions::from_extensions(&incoming.parts.extensions),
        origin: RequestOrigin {
            caller: (&permit.quota().key).into(),
            quota_permit: Some(Arc::clone(permit) as _),
        },
        validation_budget: None,
    }
}

/// Checks that mirrored arguments are present in the headers and match.
fn check_param_headers(inner: &Inner, incoming: &StatelessRequest<'_>) -> Result<(), Rejection> {
    if incoming.method != method::TOOLS_CALL || !inner.handler.has_param_headers() {
        return Ok(());
    }
    // The header matches the body, otherwise the request was not admitted.
    let headers = RequestHeaders(incoming.parts);
    let Some(Ok(name)) = single_value(&headers, name::MCP_NAME)?.map(decode_value) else {
        return Ok(());
    };
    let Some(expected) = inner.handler.param_headers(&name) else {
        return Ok(());
    };
    let params = incoming.params.as_deref().unwrap_or(b"{}");
    // The handler reports what is wrong with the params.
    if let Ok(call) = decode::<CallArguments<'_>>(params) {
        let arguments = call.arguments.map(|raw| raw.get().as_bytes());
        expected.check(&headers, arguments)?;
    }
    Ok(())
}

/// The arguments of a call, borrowed.
#[derive(Deserialize)]
struct CallArguments<'a> {
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

fn complete_response(reply: Reply, id: &RequestId, max_frame_size: usize) -> Response<Body> {
    let (frame, error) = reply.encode(id, max_frame_size);
    let status = error.map_or(200, |error| errors::http_status(&error));
    let status = ResponseStatus::from_u16(status, StatusCode::OK);
    response::json_response(status, frame)
}

/// The work on a request, as an event source.
struct ResponseStream {
    first_item: Option<StreamItem>,
    /// Notifications sent before the response, if allowed.
    notifications: Option<Receiver<Bytes>>,
    work: Option<CatchPanic<Reply>>,
    /// The response, while notifications are still pending.
    reply: Option<Reply>,
    /// Resolves when the server stops waiting; created once the stream has to
    /// wait.
    shutdown: Option<BoxFuture<'static, ()>>,
    /// Ends the stream when the token expires.
    token_lifetime: Option<TokenLifetime>,
    inner: Arc<Inner>,
    id: RequestId,
    max_frame_size: usize,
    _permit: Arc<RequestPermit>,
}

/// A message for the client.
enum StreamItem {
    Notification(Bytes),
    Response(Reply),
}

impl ResponseStream {
    /// Waits until there is something to send. Returns the response if there is
    /// nothing else.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<Option<Reply>> {
        let item = std::task::ready!(self.poll_item(cx));
        Poll::Ready(match item {
            Some(StreamItem::Response(reply)) => Some(reply),
            item => {
                self.first_item = item;
                None
            }
        })
    }

    /// Responds with JSON, or with a stream.
    fn into_response(mut self, answer: Option<Reply>) -> Response<Body> {
        match answer {
            Some(reply) => complete_response(reply, &self.id, self.max_frame_size),
            None => {
                let keep_alive = self.inner.options.keep_alive_interval;
                let token_lifetime = self.token_lifetime.take();
                response::stream_response(
                    EventStream::new(self, keep_alive).with_token_lifetime(token_lifetime),
                )
            }
        }
    }

    fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<StreamItem>> {
        if let Some(first) = self.first_item.take() {
            return Poll::Ready(Some(first));
        }
        if self.reply.is_none() {
            // Nothing is sent after the response.
            let Some(work) = &mut self.work else {
                return Poll::Ready(None);
            };
            if let Some(notifications) = &mut self.notifications
                && let Poll::Ready(Some(notification)) = notifications.poll_recv(cx)
            {
                return Poll::Ready(Some(StreamItem::Notification(notification)));
            }
            let reply = match Pin::new(work).poll(cx) {
                Poll::Ready(reply) => reply.unwrap_or_else(|_| panic_reply()),
                Poll::Pending => {
                    let stopping = self.inner.stopping();
                    let shutdown = self
                        .shutdown
                        .get_or_insert_with(|| Box::pin(stopping.wait_deadline()));
                    std::task::ready!(shutdown.as_mut().poll(cx));
                    Reply::Error(errors::internal_error("The server is shutting down"))
                }
            };
            self.work = None;
            self.reply = Some(reply);
        }
        // Notifications sent before the response must not be lost.
        let notification = self.notifications.as_mut().and_then(Receiver::try_recv);
        let notification = notification.map(StreamItem::Notification);
        Poll::Ready(notification.or_else(|| self.reply.take().map(StreamItem::Response)))
    }
}

impl EventSource for ResponseStream {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        let item = std::task::ready!(self.poll_item(cx));
        Poll::Ready(match item {
            Some(StreamItem::Notification(frame)) => {
                write_event_without_id(&frame, out);
                ControlFlow::Continue(())
            }
            Some(StreamItem::Response(reply)) => {
                write_event_without_id(&reply.encode(&self.id, self.max_frame_size).0, out);
                ControlFlow::Break(())
            }
            None => ControlFlow::Break(()),
        })
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        write_event_without_id(&protected::token_expired_error(&self.id), out);
    }
}

/// The channel to a client that waits for a response over HTTP.
pub(crate) struct StreamChannel {
    inner: Arc<Inner>,
    context: RequestContext,
    notifier: Mutex<RequestNotifier>,
    sender: Sender<Bytes>,
}

impl StreamChannel {
    /// Sends a notification that may be dropped.
    fn send_optional(
        &self,
        encode: impl FnOnce(&mut RequestNotifier, &Config) -> Option<Bytes>,
    ) -> bool {
        if self.sender.is_backlogged() {
            return false;
        }
        let mut notifier = sync::lock(&self.notifier);
        let frame = encode(&mut notifier, self.inner.handler.config());
        frame.is_some_and(|frame| self.sender.send(frame))
    }
}

impl StreamChannel {
    pub(crate) fn progress(
        &self,
        progress: Number,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        let context = &self.context;
        self.send_optional(|notifier, config| {
            notifier.progress(config, context, progress, total, message)
        })
    }

    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let context = &self.context;
        self.send_optional(move |notifier, config| {
            notifier.log(config, context, &level, logger, data)
        })
    }
}
