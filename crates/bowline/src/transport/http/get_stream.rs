//! The GET stream for messages that a server sends on its own.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::timeout;

use super::{
    body,
    context::HttpContext,
    event_channel::{EventSender, ExchangeGuard, ExchangeOwner},
    events::{EventStream, StreamError},
    exchange::is_stream,
    response::HttpResponse,
    status_error::retry_after,
};
use crate::{
    proto::http::{StatusClass, classify_status, resume::Resumption},
    transport::{ConnectionError, ConnectionErrorKind, HttpStatusError, LinkEvent, SendError},
};

/// How long opening the stream may delay other frames.
const OPEN_TIMEOUT: Duration = Duration::from_secs(1);

/// The stream of one session.
pub(super) struct GetStream {
    context: Arc<HttpContext>,
    event_sender: EventSender,
    resumption: Resumption,
    /// Delays other frames until the server has accepted or refused the stream.
    opening_guard: Option<ExchangeGuard>,
    /// Whether the stream was open before. A server that never had one has
    /// none; one that had and refuses it now has lost more than the stream.
    was_open: bool,
    /// Number of consecutive attempts that did not reach the server.
    unreachable_attempts: u32,
}

/// The outcome of an attempt.
enum Attempt {
    /// The stream was open for this long and ended.
    Ended(Duration),
    /// Retry, not before the delay that the server wants, if it says so.
    Retry(Option<Duration>),
    /// The last event id was refused; starting without it may work.
    NotResumable,
    /// The server has no such stream, or the link is gone.
    GiveUp,
}

impl GetStream {
    pub(super) fn new(context: Arc<HttpContext>, event_sender: EventSender) -> Self {
        Self {
            resumption: Resumption::new(context.resumption),
            context,
            opening_guard: Some(event_sender.guard(ExchangeOwner::GetStream)),
            event_sender,
            was_open: false,
            unreachable_attempts: 0,
        }
    }

    /// Opens the stream, and reopens it whenever it ends, for as long as the
    /// server supports it.
    pub(super) async fn run(mut self) {
        loop {
            let (uptime, retry_after) = match self.attempt().await {
                Attempt::Ended(uptime) => (uptime, None),
                Attempt::Retry(retry_after) => (Duration::ZERO, retry_after),
                Attempt::NotResumable => {
                    self.resumption.clear_last_event_id();
                    (Duration::ZERO, None)
                }
                Attempt::GiveUp => return,
            };
            let now = self.context.now();
            let at = self.resumption.next_attempt(now, uptime, retry_after);
            self.context.wait_until(at).await;
        }
    }

    async fn attempt(&mut self) -> Attempt {
        let last_event_id = self.resumption.last_event_id().map(str::to_owned);
        match self.get_stream(last_event_id.as_deref()).await {
            Ok(response) if is_stream(&response) => {
                self.was_open = true;
                self.unreachable_attempts = 0;
                let opened = self.context.now();
                self.read(response).await;
                Attempt::Ended(self.context.now() - opened)
            }
            Ok(response) => {
                self.unreachable_attempts = 0;
                self.handle_refusal(response, last_event_id.is_some()).await
            }
            // No credentials at the moment; if the stream was open before,
            // there may be some again.
            Err(SendError::Failed(cause)) if is_unauthorized(&cause) => match self.was_open {
                true => Attempt::Retry(None),
                false => Attempt::GiveUp,
            },
            Err(SendError::Failed(cause) | SendError::NoResponse(cause)) => {
                self.server_unreachable(cause).await
            }
            Err(SendError::Busy(_) | SendError::Status(_)) => Attempt::GiveUp,
        }
    }

    /// Requests the stream. Frames that wait for it do not wait forever.
    async fn get_stream(&mut self, last_event_id: Option<&str>) -> Result<HttpResponse, SendError> {
        let mut request = pin!(self.context.get_stream(last_event_id));
        if self.opening_guard.is_some()
            && let Ok(answer) = timeout(OPEN_TIMEOUT, request.as_mut()).await
        {
            self.opening_guard = None;
            return answer;
        }
        self.opening_guard = None;
        request.await
    }

    async fn read(&mut self, response: HttpResponse) {
        let (max_frame, max_comment_bytes) = (
            self.context.max_frame_size,
            self.context.limits.max_comment_bytes,
        );
        let mut events = EventStream::new(response, max_frame, max_comment_bytes);
        loop {
            match events.next().await {
                Ok(event) => {
                    self.resumption.record_event(&event);
                    if let Some(message) = event.message() {
                        self.event_sender
                            .send(LinkEvent::Frame(message.clone()))
                            .await;
                    }
                }
                Err(StreamError::TooLarge) => {
                    // It would be repeated.
                    self.resumption.clear_last_event_id();
                    let size = events.limit().saturating_add(1);
                    let prefix = Bytes::new();
                    let oversize = LinkEvent::OversizedFrame { size, prefix };
                    return self.event_sender.send(oversize).await;
                }
                Err(StreamError::Broken(_) | StreamError::Invalid(_)) => return,
            }
        }
    }

    async fn handle_refusal(&self, response: HttpResponse, resuming: bool) -> Attempt {
        let (status, wait) = (response.status().as_u16(), retry_after(&response));
        body::drain(response).await;
        match classify_status(status) {
            class if class.is_temporary() => {}
            // The credentials may be accepted later.
            class if class.denies_access() && self.was_open => {}
            _ if self.was_open && resuming => return Attempt::NotResumable,
            _ if self.was_open => return self.stream_lost(status).await,
            _ => return Attempt::GiveUp,
        }
        Attempt::Retry(wait)
    }

    /// Handles a server that had the stream and does not know it any more.
    async fn stream_lost(&self, status: u16) -> Attempt {
        let event = if classify_status(status) == StatusClass::NotFound {
            let error = HttpStatusError {
                status,
                body: Bytes::new(),
                retry_after: None,
            };
            let error = SendError::Status(error);
            LinkEvent::SendFailed { id: None, error }
        } else {
            let retry_after = None;
            LinkEvent::Down(
                ConnectionErrorKind::Status {
                    status,
                    retry_after,
                }
                .into(),
            )
        };
        self.event_sender.send(event).await;
        Attempt::GiveUp
    }

    /// Handles an unreachable server. If it stays unreachable the link goes
    /// down, so the connection notices and opens a new session.
    async fn server_unreachable(&mut self, cause: ConnectionError) -> Attempt {
        self.unreachable_attempts += 1;
        if self.was_open && self.unreachable_attempts > self.context.resumption.max_attempts {
            self.event_sender.send(LinkEvent::Down(cause)).await;
            return Attempt::GiveUp;
        }
        Attempt::Retry(None)
    }
}

fn is_unauthorized(cause: &ConnectionError) -> bool {
    matches!(cause.kind(), ConnectionErrorKind::Unauthorized(_))
}
