//! The event stream in the body of an answer, event by event.

use bytes::{Buf as _, Bytes};

use super::response::HttpResponse;
use crate::{
    proto::http::sse::{Decoder, Event, SseError, SseLimits},
    transport::{ConnectionError, ConnectionErrorKind},
};

/// An event stream that is being read.
pub(super) struct EventStream {
    response: HttpResponse,
    decoder: Decoder,
    /// What has arrived and was not looked at yet.
    chunk: Bytes,
    limit: usize,
}

/// Why there are no more events.
#[derive(Debug)]
pub(super) enum StreamError {
    /// The stream is over, in order or not; it may be taken up again.
    Broken(ConnectionError),
    /// An event is larger than a frame may be.
    TooLarge,
    /// The server does not keep to what a stream may hold.
    Invalid(SseError),
}

impl EventStream {
    /// Reads the body of `response`, with events of up to `max_frame` bytes and
    /// `overhead` bytes between two of them.
    pub(super) fn new(response: HttpResponse, max_frame: usize, overhead: u64) -> Self {
        let limits = SseLimits {
            max_line: max_frame,
            max_event: max_frame,
            max_overhead: Some(overhead),
            ..SseLimits::default()
        };
        Self {
            response,
            decoder: Decoder::new(limits),
            chunk: Bytes::new(),
            limit: max_frame,
        }
    }

    /// The next event. After an end there is nothing more.
    pub(super) async fn next(&mut self) -> Result<Event, StreamError> {
        loop {
            let mut rest = &self.chunk[..];
            let event = self.decoder.push(&mut rest);
            let used = self.chunk.len() - rest.len();
            self.chunk.advance(used);
            match event {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(SseError::LineTooLong | SseError::EventTooLarge) => {
                    return Err(StreamError::TooLarge);
                }
                Err(error) => return Err(StreamError::Invalid(error)),
            }
            self.chunk = match self.response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Err(StreamError::Broken(ConnectionErrorKind::Eof.into())),
                Err(cause) => return Err(StreamError::Broken(cause)),
            };
        }
    }

    /// The largest event that is read.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The answer that the events are read from.
    pub(super) fn into_response(self) -> HttpResponse {
        self.response
    }
}
