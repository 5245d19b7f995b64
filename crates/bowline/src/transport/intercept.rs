//! Links that pass through an interceptor, which observes or changes what they carry.

use std::task::{Context, Poll};

use super::{
    BoxFuture, ConnectionError, DialOptions, Link, LinkEvent, OutgoingFrame, SendError, Transport,
    TransportKind, internal,
};
use crate::proto::revision::{Era, Revision};

/// Observes or changes what passes through a link.
///
/// Each method gets the link that it stands in front of, and passes everything through
/// unless it is overridden.
///
/// ```
/// use bowline::transport::{
///     Intercepted, Link, LinkInterceptor, Memory, OutgoingFrame, SendError,
/// };
/// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
///
/// /// Counts the bytes that are sent.
/// struct Counter(Arc<AtomicUsize>);
///
/// impl LinkInterceptor for Counter {
///     fn send(&mut self, link: &mut dyn Link, frame: OutgoingFrame) -> Result<(), SendError> {
///         let size = frame.frame.len();
///         link.send(frame)?;
///         self.0.fetch_add(size, Ordering::Relaxed);
///         Ok(())
///     }
/// }
///
/// let bytes = Arc::new(AtomicUsize::new(0));
/// let (transport, server_side) = Memory::new();
/// let transport = Intercepted::new(transport, {
///     let bytes = Arc::clone(&bytes);
///     move || Counter(Arc::clone(&bytes))
/// });
/// # drop((transport, server_side));
/// ```
pub trait LinkInterceptor: Send + 'static {
    /// Stands in front of [`Link::send`].
    ///
    /// # Errors
    ///
    /// Returns an error if the frame was not accepted.
    fn send(&mut self, link: &mut dyn Link, outgoing: OutgoingFrame) -> Result<(), SendError> {
        link.send(outgoing)
    }

    /// Stands in front of [`Link::poll_event`].
    fn poll_event(&mut self, link: &mut dyn Link, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        link.poll_event(cx)
    }

    /// Stands in front of [`Link::abort`].
    fn abort(&mut self, link: &mut dyn Link, id: u64) {
        link.abort(id);
    }

    /// Stands in front of [`Link::set_revision`].
    fn set_revision(&mut self, link: &mut dyn Link, revision: Revision) {
        link.set_revision(revision);
    }

    /// Called before the link is closed.
    fn closing(&mut self) {}
}

/// A link behind a [`LinkInterceptor`].
pub struct InterceptedLink<I> {
    link: Box<dyn Link>,
    interceptor: I,
}

impl<I: LinkInterceptor> InterceptedLink<I> {
    /// Puts an interceptor in front of a link.
    pub fn new(link: Box<dyn Link>, interceptor: I) -> Self {
        Self { link, interceptor }
    }
}

impl<I: LinkInterceptor> Link for InterceptedLink<I> {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        self.interceptor.send(&mut *self.link, outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_flush(cx)
    }

    fn can_flush_on_any_thread(&self, token: internal::Token) -> bool {
        self.link.can_flush_on_any_thread(token)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        self.interceptor.poll_event(&mut *self.link, cx)
    }

    fn abort(&mut self, id: u64) {
        self.interceptor.abort(&mut *self.link, id);
    }

    fn stderr_tail(&self) -> Option<String> {
        self.link.stderr_tail()
    }

    fn set_revision(&mut self, revision: Revision) {
        self.interceptor.set_revision(&mut *self.link, revision);
    }

    fn close(mut self: Box<Self>) {
        self.interceptor.closing();
        self.link.close();
    }
}

/// A transport whose links each have an interceptor; otherwise unchanged.
pub struct Intercepted<T, F> {
    transport: T,
    interceptor: F,
}

impl<T, F, I> Intercepted<T, F>
where
    T: Transport,
    F: FnMut() -> I + Send + 'static,
    I: LinkInterceptor,
{
    /// Wraps a transport. `interceptor` is called for each link.
    pub fn new(transport: T, interceptor: F) -> Self {
        Self {
            transport,
            interceptor,
        }
    }
}

impl<T, F, I> Transport for Intercepted<T, F>
where
    T: Transport,
    F: FnMut() -> I + Send + 'static,
    I: LinkInterceptor,
{
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let dialled = self.transport.dial(options);
        let interceptor = (self.interceptor)();
        Box::pin(async move {
            let link = InterceptedLink::new(dialled.await?, interceptor);
            Ok(Box::new(link) as Box<dyn Link>)
        })
    }

    fn kind(&self) -> TransportKind {
        self.transport.kind()
    }

    fn known_era(&self) -> Option<Era> {
        self.transport.known_era()
    }

    fn describe(&self) -> String {
        self.transport.describe()
    }
}

impl<I> std::fmt::Debug for InterceptedLink<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InterceptedLink").finish_non_exhaustive()
    }
}

impl<T: std::fmt::Debug, F> std::fmt::Debug for Intercepted<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intercepted")
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
