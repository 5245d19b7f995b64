//! One POST and its response, in any form.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::time::timeout;

use super::{
    body::{self, BodyError},
    context::HttpContext,
    error_text::quote_truncated,
    event_channel::ExchangeGuard,
    events::{EventStream, StreamError},
    post_request::{FrameKind, PostRequest},
    response::HttpResponse,
    status_error::retry_after,
};
use crate::{
    proto::{
        http::{
            StatusClass, classify_status, is_event_stream, is_json,
            resume::{ResumeAction, Resumption},
        },
        jsonrpc::{Envelope, Messages, scan, split_batch},
    },
    transport::{ConnectionError, ConnectionErrorKind, HttpStatusError, LinkEvent, SendError},
};

/// How long a server may take to acknowledge a message without a response.
/// Other frames may wait for it: see the link's `SendGate`.
const ACK_TIMEOUT: Duration = Duration::from_secs(30);

/// The role of a frame in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameRole {
    /// It is the response.
    Response,
    /// It is an error without a request id.
    ErrorWithoutId,
    Other,
}

/// One exchange.
pub(super) struct Exchange {
    context: Arc<HttpContext>,
    guard: ExchangeGuard,
    id: Option<u64>,
    kind: FrameKind,
    /// Whether responses arrive on another stream, so a POST has none.
    acknowledged_only: bool,
}

impl Exchange {
    pub(super) fn new(
        context: Arc<HttpContext>,
        guard: ExchangeGuard,
        request: &PostRequest,
        acknowledged_only: bool,
    ) -> Self {
        Self {
            context,
            guard,
            id: request.id,
            kind: request.kind,
            acknowledged_only,
        }
    }

    /// Posts the request and handles its response. Reports a missing response.
    pub(super) async fn run(self, request: PostRequest) {
        let done = match self.id {
            // The connection has a timeout for it and aborts it.
            Some(_) => self.post(request).await,
            None => {
                let posting = Box::pin(self.post(request));
                timeout(ACK_TIMEOUT, posting).await.unwrap_or_else(|_| {
                    let reason = "it did not acknowledge a message within 30s";
                    Err(protocol_violation(reason.to_owned()))
                })
            }
        };
        let last = match done {
            Ok(None) => return,
            Ok(Some(frame)) => LinkEvent::Frame(frame),
            Err(error) => LinkEvent::SendFailed { id: self.id, error },
        };
        self.guard.send_last(last).await;
    }

    /// Posts the request and waits for its response. Returns the frame that
    /// remains to be delivered, if any.
    async fn post(&self, request: PostRequest) -> Result<Option<Bytes>, SendError> {
        let session = self.context.session();
        let mut response = self
            .context
            .send(Method::POST, &request.headers, request.frame)
            .await?;
        let status = response.status();
        if !status.is_success() {
            let class = classify_status(status.as_u16());
            if let (StatusClass::NotFound, Some(session)) = (class, &session) {
                self.context.clear_session(session);
            }
            let status_error = Box::pin(self.context.read_status_error(&mut response)).await;
            return Err(SendError::Status(status_error));
        }
        if self.acknowledged_only || self.id.is_none() {
            Box::pin(body::drain(response)).await;
            return Ok(None);
        }
        if self.kind == FrameKind::Initialize {
            let opened = self.context.open_session(response.headers());
            opened.map_err(|error| protocol_violation(error.to_string()))?;
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.map(HeaderValue::as_bytes).unwrap_or_default();
        if is_event_stream(content_type) {
            // Boxed: most exchanges have no stream and need no memory for one.
            Box::pin(self.read_stream(response)).await?;
            return Ok(None);
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let reason = "it accepted a request but sent no response";
            return Err(protocol_violation(reason.to_owned()));
        }
        if !is_json(content_type) {
            let reason = format!(
                "it sent a response with the unexpected content type {}",
                quote_truncated(content_type)
            );
            return Err(protocol_violation(reason));
        }
        self.read_json(&mut response).await
    }

    async fn read_json(&self, response: &mut HttpResponse) -> Result<Option<Bytes>, SendError> {
        let body = match body::read_all(response, self.context.max_frame_size).await {
            Ok(body) => body,
            Err(BodyError::TooLarge(size)) => {
                self.report_oversized(size).await;
                return Ok(None);
            }
            Err(BodyError::Broken(cause)) => return Err(SendError::NoResponse(cause)),
        };
        match self.classify(&body) {
            FrameRole::Response => Ok(Some(body)),
            // The error does not name its request; the exchange does.
            FrameRole::ErrorWithoutId if self.context.rules().is_some() => {
                Err(SendError::Status(HttpStatusError {
                    status: response.status().as_u16(),
                    body,
                    retry_after: None,
                }))
            }
            FrameRole::ErrorWithoutId | FrameRole::Other => {
                self.guard.send(LinkEvent::Frame(body)).await;
                let reason = "its response does not match any request";
                Err(protocol_violation(reason.to_owned()))
            }
        }
    }

    /// Reads a stream up to the response, and resumes it where that is allowed:
    /// by GET, from the last event id, and never by POST.
    async fn read_stream(&self, response: HttpResponse) -> Result<(), SendError> {
        let mut resumption = Resumption::new(self.context.resumption);
        let mut events = self.event_stream(response);
        loop {
            let cause = match self.read_until_response(&mut events, &mut resumption).await {
                Ok(()) => {
                    body::drain(events.into_response()).await;
                    return Ok(());
                }
                Err(StreamError::Broken(cause)) => cause,
                Err(StreamError::TooLarge) => {
                    self.report_oversized(events.limit().saturating_add(1))
                        .await;
                    return Ok(());
                }
                Err(StreamError::Invalid(error)) => {
                    return Err(protocol_violation(error.to_string()));
                }
            };
            let resumes = self.context.rules().is_some_and(|rules| rules.resumption);
            if !resumes {
                return Err(SendError::NoResponse(cause));
            }
            events = self.resume(&mut resumption, cause).await?;
        }
    }

    /// Resumes a broken stream.
    async fn resume(
        &self,
        resumption: &mut Resumption,
        cause: ConnectionError,
    ) -> Result<EventStream, SendError> {
        let mut action = resumption.stream_broken(self.context.now());
        loop {
            let ResumeAction::Resume { at, last_event_id } = action else {
                return Err(SendError::NoResponse(cause));
            };
            self.context.wait_until(at).await;
            action = match self.context.get_stream(Some(&last_event_id)).await {
                Ok(response) if is_stream(&response) => return Ok(self.event_stream(response)),
                Ok(response) => {
                    let (status, wait) = (response.status().as_u16(), retry_after(&response));
                    body::drain(response).await;
                    resumption.request_refused(self.context.now(), status, wait)
                }
                Err(_) => resumption.stream_broken(self.context.now()),
            };
        }
    }

    /// Reads until the response has arrived.
    async fn read_until_response(
        &self,
        events: &mut EventStream,
        resumption: &mut Resumption,
    ) -> Result<(), StreamError> {
        loop {
            let event = events.next().await?;
            resumption.record_event(&event);
            if let Some(message) = event.message()
                && self.deliver(message.clone()).await
            {
                return Ok(());
            }
        }
    }

    /// Delivers a frame. Returns whether it is the response.
    async fn deliver(&self, frame: Bytes) -> bool {
        let answered = self.classify(&frame) == FrameRole::Response;
        self.guard.send(LinkEvent::Frame(frame)).await;
        answered
    }

    /// Returns the role of a frame in this exchange.
    fn classify(&self, frame: &[u8]) -> FrameRole {
        match split_batch(frame) {
            Ok(Messages::Single(message)) => self.classify_message(message),
            Ok(Messages::Batch(messages)) => {
                let answers = messages
                    .into_iter()
                    .filter(|message| self.classify_message(message) == FrameRole::Response);
                match answers.count() {
                    0 => FrameRole::Other,
                    _ => FrameRole::Response,
                }
            }
            Err(_) => FrameRole::Other,
        }
    }

    fn classify_message(&self, message: &[u8]) -> FrameRole {
        match scan(message) {
            Ok(Envelope::Response { id, result, .. }) if id.as_u64() == self.id => {
                if let FrameKind::ListTools { first } = self.kind {
                    self.context.update_tool_headers(result, first);
                }
                FrameRole::Response
            }
            Ok(Envelope::Error { id: None, .. }) => FrameRole::ErrorWithoutId,
            Ok(Envelope::Error { id: Some(id), .. }) if id.as_u64() == self.id => {
                FrameRole::Response
            }
            _ => FrameRole::Other,
        }
    }

    /// Reports a response over the limit. The exchange knows its request,
    /// better than the first bytes would.
    async fn report_oversized(&self, size: usize) {
        let id = self.id.unwrap_or_default();
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#).into();
        self.guard
            .send(LinkEvent::OversizedFrame { size, prefix })
            .await;
    }

    fn event_stream(&self, response: HttpResponse) -> EventStream {
        EventStream::new(
            response,
            self.context.max_frame_size,
            self.context.limits.max_comment_bytes,
        )
    }
}

/// Returns whether a response is an event stream.
pub(super) fn is_stream(response: &HttpResponse) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    response.status() == StatusCode::OK
        && content_type.is_some_and(|content_type| is_event_stream(content_type.as_bytes()))
}

fn protocol_violation(reason: String) -> SendError {
    SendError::NoResponse(ConnectionErrorKind::ProtocolViolation(reason).into())
}
