//! How frames travel: the contract between a connection and what carries it.
//!
//! A [`Transport`] opens links; a [`Link`] carries frames until it dies and
//! then says why. Neither knows the protocol: reconnecting, negotiating and
//! retrying are the connection's business.

mod child;
mod close_tracker;
#[cfg(feature = "http-client")]
pub(crate) mod http;
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
pub use memory::{Memory, MemoryLink, MemoryListener};
/// The HTTP client below [`Http`], for applications that bring their own.
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
    /// Opens a link. The future is dropped if nobody waits for the link any
    /// more; what it had started must end with it.
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>>;

    /// What the links are, as far as the protocol cares.
    fn kind(&self) -> TransportKind {
        TransportKind::Stream
    }

    /// The era that the server was found to be of by an earlier link, if the
    /// transport remembers. It saves a question, and may be wrong.
    fn known_era(&self) -> Option<Era> {
        None
    }

    /// What the link leads to, for people: a command line, a URL.
    fn describe(&self) -> String;
}

/// A transport that is chosen when the program runs.
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

/// What a transport is told when a link is wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DialOptions {
    /// How many attempts have failed since the last success.
    pub attempt: u32,
    /// Which of two HTTP transports to use; others have no choice.
    pub http_variant: HttpVariant,
    /// The largest frame that may be received.
    pub max_frame_size: usize,
    /// Where the link says what it still does after it was closed.
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

/// One link, from dial to death. Driven by one task.
pub trait Link: Send {
    /// Takes a frame to be sent, in this order. Must not wait: a link whose
    /// queue is full hands the frame back as [`Refusal::Busy`].
    ///
    /// # Errors
    ///
    /// Where the frame was not taken.
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError>;

    /// Moves queued frames on. Ready when nothing is queued.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Whether [`poll_flush`](Self::poll_flush) may be called on any thread,
    /// in the name of the task that drives the link, and costs one write at
    /// most. Then a frame that is alone leaves without that task.
    fn can_flush_on_any_thread(&self) -> bool {
        false
    }

    /// The next thing that the link has to say. After [`LinkEvent::Down`] it is
    /// not asked again.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent>;

    /// Nobody waits for the answer to this request any more.
    fn abort(&mut self, _id: u64) {}

    /// The last lines that the server wrote to its standard error, where they
    /// are kept: they often say why nothing came.
    fn stderr_tail(&self) -> Option<String> {
        None
    }

    /// The revision is settled; what marks messages with it can do so now.
    fn set_revision(&mut self, _revision: Revision) {}

    /// Closes the link in good order, in the background if that takes time.
    /// What is done in the background is made known to the tracker that came
    /// with the [`Dial`].
    fn close(self: Box<Self>);
}

/// A frame on its way out.
#[derive(Clone, Debug)]
pub struct OutgoingFrame {
    /// The id, where the frame is a request.
    pub id: Option<u64>,
    /// The frame, without a line end and with none inside.
    pub frame: Bytes,
}

/// What a link has to say.
#[derive(Debug)]
pub enum LinkEvent {
    /// A frame arrived whole.
    Frame(Bytes),
    /// A frame grew over the limit and was not kept. Where no frames can follow
    /// it, [`Down`](Self::Down) does.
    OversizedFrame {
        /// How large it was when that was known.
        size: usize,
        /// Its first bytes, which tell whose it is; or the first bytes of a
        /// message of the same kind and id.
        prefix: Bytes,
    },
    /// A frame of ours that was taken could not be delivered.
    SendFailed {
        /// Its id, where it is a request.
        id: Option<u64>,
        /// What was wrong.
        error: SendError,
    },
    /// The link is dead.
    Down(ConnectionError),
}
