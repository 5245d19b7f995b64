//! A decoded event.

use std::time::Duration;

use bytes::Bytes;

/// One event of a stream.
///
/// It may contain only an id or a retry delay: servers open a stream with such
/// an event to make it resumable. Then [`message`](Event::message) is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The id that this event sets; an empty one resets an earlier id.
    pub id: Option<Box<str>>,
    /// The event's name; `None` means `message`.
    pub name: Option<Box<str>>,
    /// The data, its lines joined by line feeds. Not yet checked to be UTF-8.
    pub data: Bytes,
    /// How long to wait before reconnecting.
    pub retry: Option<Duration>,
}

impl Event {
    /// Returns the JSON-RPC message, if this event carries one.
    #[must_use]
    pub fn message(&self) -> Option<&Bytes> {
        let is_message = self.name.as_deref().unwrap_or("message") == "message";
        (is_message && !self.data.is_empty()).then_some(&self.data)
    }
}
