//! The event stream in a response body.

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
    /// Received bytes that were not parsed yet.
    chunk: Bytes,
    limit: usize,
}

/// Why a stream has no more events.
#[derive(Debug)]
pub(super) enum StreamError {
    /// The stream ended, cleanly or not; it may be resumed.
    Broken(ConnectionError),
    /// An event exceeds the maximum frame size.
    TooLarge,
    /// The stream violates the protocol.
    Invalid(SseError),
}

impl EventStream {
    /// Reads the body of `response`, with events of up to `max_frame` bytes and
    /// `overhead` bytes between two events.
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

    /// Returns the next event. Must not be called after an error.
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

    /// Returns the maximum size of an event.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the response that the events are read from.
    pub(super) fn into_response(self) -> HttpResponse {
        self.response
    }
}
