//! Transports: how frames travel between a connection and its peer.
//!
//! A [`Transport`] opens links; a [`Link`] carries frames until it goes down
//! and then reports why. Neither knows the protocol: reconnecting, negotiating
//! and retrying are up to the connection.

mod child;
mod close_tracker;
#[cfg(feature = "http-client")]
pub(crate) mod http;
mod intercept;
mod memory;
#[cfg(feature = "server")]
mod stdio;
mod stream;

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;

pub use bowline_proto::client::{
    ConnectionError, ConnectionErrorKind, HttpStatusError, HttpVariant, SendError, TransportKind,
};
pub use child::{ChildProcess, StderrPolicy};
pub use close_tracker::{CloseTask, CloseTracker, StopOutcome};
#[cfg(feature = "http-client")]
pub use http::{
    AuthChallenge, Authorizer, ChallengeAction, Http, HttpConfigError, HttpLimits, OutboundRequest,
    Unauthorized,
};
pub use intercept::{Intercepted, InterceptedLink, LinkInterceptor};
pub use memory::{Memory, MemoryLink, MemoryListener};
/// The HTTP client that [`Http`] uses, for applications that bring their own.
#[cfg(feature = "http-client")]
pub use reqwest;
#[cfg(feature = "server")]
pub use stdio::Stdio;
pub use stream::StreamLink;

use crate::proto::revision::{Era, Revision};

/// A boxed future, as [`Transport::dial`] returns it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Opens links to one server, one after another.
pub trait Transport: Send + 'static {
    /// Opens a link. The future is dropped if the link is no longer wanted;
    /// anything it started must end with it.
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>>;

    /// Returns the kind of the links, as far as the protocol cares.
    fn kind(&self) -> TransportKind {
        TransportKind::Stream
    }

    /// Returns the era of the server as seen by an earlier link, if the
    /// transport remembers it. Saves a probe, and may be out of date.
    fn known_era(&self) -> Option<Era> {
        None
    }

    /// Describes the peer for people: a command line, a URL.
    fn describe(&self) -> String;
}

/// A transport that is chosen at run time.
impl Transport for Box<dyn Transport> {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        (**self).dial(options)
    }

    fn kind(&self) -> TransportKind {
        (**self).kind()
    }

    fn known_era(&self) -> Option<Era> {
        (**self).known_era()
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}

/// Options for [`Transport::dial`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DialOptions {
    /// Number of failed attempts since the last success.
    pub attempt: u32,
    /// Which of the two HTTP transports to use; ignored by other transports.
    pub http_variant: HttpVariant,
    /// Size of the largest frame that may be received, in bytes.
    pub max_frame_size: usize,
    /// Tracks the work that the link still does after it was closed.
    pub close_tracker: CloseTracker,
}

impl Default for DialOptions {
    /// A first attempt, with frames of up to 16 MiB.
    fn default() -> Self {
        Self {
            attempt: 0,
            http_variant: HttpVariant::Streamable,
            max_frame_size: 16 * 1024 * 1024,
            close_tracker: CloseTracker::default(),
        }
    }
}

/// Keeps a method of [`Link`] to this crate.
pub(crate) mod internal {
    /// An argument that other crates cannot name. So they can neither call nor
    /// implement `Link::can_flush_on_any_thread`, which returns whether
    /// `poll_flush` may be called on any thread on behalf of the task that
    /// drives the link, at a cost of one write at most. The client then sends a
    /// single frame without waking that task. A link that does some of its work
    /// in `poll_event` would hang.
    #[derive(Clone, Copy, Debug)]
    pub struct Token;
}

/// One link, from dial until it goes down. Driven by one task.
pub trait Link: Send {
    /// Queues a frame; frames are sent in this order. Must not wait: a link
    /// whose queue is full returns the frame as [`SendError::Busy`].
    ///
    /// # Errors
    ///
    /// Returns an error if the frame was not accepted.
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError>;

    /// Writes queued frames. Ready when the queue is empty.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Polls for the next event. Not called again after [`LinkEvent::Down`].
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent>;

    /// Notifies the link that the response to this request is no longer
    /// awaited.
    fn abort(&mut self, _id: u64) {}

    /// Returns the last lines that the server wrote to its standard error, if
    /// they are kept: they often explain why there was no response.
    fn stderr_tail(&self) -> Option<String> {
        None
    }

    /// Notifies the link of the negotiated revision, which some transports send
    /// along with each message.
    fn set_revision(&mut self, _revision: Revision) {}

    /// Closes the link gracefully, in the background if that takes time.
    /// Background work is registered with the tracker from [`DialOptions`].
    fn close(self: Box<Self>);

    /// Not part of the interface: see [`internal::Token`].
    #[doc(hidden)]
    fn can_flush_on_any_thread(&self, _: internal::Token) -> bool {
        false
    }
}

/// An outgoing frame.
#[derive(Clone, Debug)]
pub struct OutgoingFrame {
    /// The request id, if the frame is a request.
    pub id: Option<u64>,
    /// The frame, without any line breaks.
    pub frame: Bytes,
}

/// An event of a [`Link`].
#[derive(Debug)]
pub enum LinkEvent {
    /// A complete frame arrived.
    Frame(Bytes),
    /// A frame exceeded the limit and was discarded. If no more frames can
    /// follow, [`Down`](Self::Down) is next.
    OversizedFrame {
        /// Size of the frame when the limit was exceeded.
        size: usize,
        /// Its first bytes, which identify the message; or the first bytes of a
        /// message of the same kind and id.
        prefix: Bytes,
    },
    /// An accepted frame could not be delivered.
    SendFailed {
        /// Its id, if it is a request.
        id: Option<u64>,
        /// The reason.
        error: SendError,
    },
    /// The link is down.
    Down(ConnectionError),
}
