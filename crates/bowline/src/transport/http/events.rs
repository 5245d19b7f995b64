//! The event stream in the body of an answer, event by event.

use bytes::{Buf as _, Bytes};

use super::answer::Answer;
use crate::{
    proto::http::sse::{Decoder, Event, SseError, SseLimits},
    transport::{Cause, CauseKind},
};

/// An event stream that is being read.
pub(super) struct Events {
    response: Answer,
    decoder: Decoder,
    /// What has arrived and was not looked at yet.
    chunk: Bytes,
    limit: usize,
}

/// Why there are no more events.
#[derive(Debug)]
pub(super) enum End {
    /// The stream is over, in order or not; it may be taken up again.
    Broken(Cause),
    /// An event is larger than a frame may be.
    TooLarge,
    /// The server does not keep to what a stream may hold.
    Unruly(SseError),
}

impl Events {
    /// Reads the body of `response`, with events of up to `max_frame` bytes and
    /// `overhead` bytes between two of them.
    pub(super) fn new(response: Answer, max_frame: usize, overhead: u64) -> Self {
        let limits = SseLimits {
            line: max_frame,
            event: max_frame,
            overhead: Some(overhead),
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
    pub(super) async fn next(&mut self) -> Result<Event, End> {
        loop {
            let mut rest = &self.chunk[..];
            let event = self.decoder.push(&mut rest);
            let used = self.chunk.len() - rest.len();
            self.chunk.advance(used);
            match event {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(SseError::LineTooLong | SseError::EventTooLarge) => return Err(End::TooLarge),
                Err(error) => return Err(End::Unruly(error)),
            }
            self.chunk = match self.response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Err(End::Broken(CauseKind::Eof.into())),
                Err(cause) => return Err(End::Broken(cause)),
            };
        }
    }

    /// The largest event that is read.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The answer that the events are read from.
    pub(super) fn into_response(self) -> Answer {
        self.response
    }
}
