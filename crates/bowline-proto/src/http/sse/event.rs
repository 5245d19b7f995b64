//! An event, as read from a stream.

use std::time::Duration;

use bytes::Bytes;

/// One event of a stream.
///
/// There may be nothing in it but an id or a wait: servers open a stream with
/// such an event, so that it can be resumed. Then [`message`](Event::message)
/// is `None`, and there is nothing to parse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The id that this event sets; an empty one takes back an earlier id.
    pub id: Option<Box<str>>,
    /// The event's name; `None` means `message`.
    pub name: Option<Box<str>>,
    /// The data, its lines joined by line feeds. Not yet checked to be UTF-8.
    pub data: Bytes,
    /// How long to wait before connecting anew.
    pub retry: Option<Duration>,
}

impl Event {
    /// The JSON-RPC message, if this is an event that carries one.
    #[must_use]
    pub fn message(&self) -> Option<&Bytes> {
        let is_message = self.name.as_deref().unwrap_or("message") == "message";
        (is_message && !self.data.is_empty()).then_some(&self.data)
    }
}
