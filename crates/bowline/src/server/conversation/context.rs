//! The context of a call, without the ability to ask.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use serde::Serialize;

use super::invocation::Invocation;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{ClientCapabilities, Implementation, LogLevel},
        revision::Revision,
    },
    server::{
        auth::TokenClaims,
        state::{AnyState, downcast},
    },
};

/// The server's side of a call: the application's state, the caller, logging
/// and progress. It cannot ask the client anything; use a
/// [`Conversation`](super::Conversation) for that.
pub struct HandlerContext<S = ()> {
    pub(crate) invocation: Arc<Invocation>,
    state: AnyState,
    state_type: PhantomData<fn() -> S>,
}

impl HandlerContext {
    pub(crate) fn new(invocation: Arc<Invocation>, state: AnyState) -> Self {
        Self {
            invocation,
            state,
            state_type: PhantomData,
        }
    }

    /// Returns the same context with the type of the state.
    pub(crate) fn for_state<S>(self) -> HandlerContext<S> {
        HandlerContext {
            invocation: self.invocation,
            state: self.state,
            state_type: PhantomData,
        }
    }
}

impl<S: 'static> HandlerContext<S> {
    /// Returns the state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        downcast(&self.state)
    }
}

impl<S> HandlerContext<S> {
    /// Returns the name of the requested tool or prompt, the URI of the resource, or
    /// the name of the custom method.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.invocation.name
    }

    /// Returns the protocol revision of the call.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.invocation.request.context.revision()
    }

    /// Returns the client's name and version, if it sent them. They are not
    /// verified.
    #[must_use]
    pub fn client_info(&self) -> Option<&Implementation> {
        self.invocation.request.context.client.info.as_ref()
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.invocation.request.context.client.capabilities
    }

    /// Returns the principal that the transport authenticated, if there is one.
    /// With tokens, the principal is their issuer and subject; see also
    /// [`claims`](Self::claims).
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.invocation.request.principal.as_deref()
    }

    /// Returns the claims of the caller's token, if one was required: who
    /// granted what to whom. The token itself is not included.
    #[must_use]
    pub fn claims(&self) -> Option<&TokenClaims> {
        self.invocation.request.permissions.claims()
    }

    /// Sends a log message, if the client has requested messages of that level, and
    /// returns whether it was sent. A replay does not send the messages of earlier
    /// rounds again. In a task, log messages are dropped.
    pub fn log<T: Serialize + ?Sized>(&self, level: LogLevel, data: &T) -> bool {
        self.send_log(None, level, data)
    }

    /// Sends a log message with a logger name; see [`log`](Self::log).
    pub fn log_with_logger<T: Serialize + ?Sized>(
        &self,
        logger: &str,
        level: LogLevel,
        data: &T,
    ) -> bool {
        self.send_log(Some(logger), level, data)
    }

    fn send_log<T: Serialize + ?Sized>(
        &self,
        logger: Option<&str>,
        level: LogLevel,
        data: &T,
    ) -> bool {
        match RawJson::encode(data) {
            Ok(data) if !self.invocation.is_replaying() => {
                self.invocation.channel.log(level, logger, data)
            }
            _ => false,
        }
    }

    /// Reports progress, if the client has requested it, and returns whether the
    /// report was sent. Pass the total if it is known. Each report must be greater
    /// than the one before; others are not sent. A replay does not send the reports
    /// of earlier rounds again. In a task, reports without a message are dropped.
    pub fn progress(&self, progress: f64, total: impl Into<Option<f64>>) -> bool {
        self.send_progress(progress, total.into(), None)
    }

    /// Reports progress with a message for people; see
    /// [`progress`](Self::progress). In a task, the message becomes the status message.
    pub fn progress_with_message(
        &self,
        progress: f64,
        total: impl Into<Option<f64>>,
        message: &str,
    ) -> bool {
        self.send_progress(progress, total.into(), Some(message))
    }

    fn send_progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let invocation = &self.invocation;
        !invocation.is_replaying() && invocation.channel.progress(progress, total, message)
    }

    /// Closes the connection on which the client waits for the response, so a slow
    /// handler does not keep it open. The call continues, and the client reconnects
    /// for the response. Only revision 2025-11-25 over HTTP allows this; returns
    /// whether the connection was closed.
    pub fn release_connection(&self) -> bool {
        self.invocation.channel.release_connection()
    }

    /// Waits until this round of the call has ended: with a response, with a
    /// question (in revision 2026-07-28 and in tasks), or because the client cancelled
    /// the call or, unless it is a task, disconnected.
    ///
    /// When a round ends, the handler's future is dropped, as soon as its running
    /// steps have finished. Tasks and threads that the handler has started continue;
    /// they can wait for this future to know when to stop.
    pub fn finished(&self) -> impl Future<Output = ()> + Send + 'static {
        let lifecycle = Arc::clone(&self.invocation.lifecycle);
        async move { lifecycle.wait_finished().await }
    }
}

impl<S> Clone for HandlerContext<S> {
    fn clone(&self) -> Self {
        Self {
            invocation: Arc::clone(&self.invocation),
            state: Arc::clone(&self.state),
            state_type: PhantomData,
        }
    }
}

impl<S> fmt::Debug for HandlerContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut context = f.debug_struct("HandlerContext");
        context.field("name", &self.name()).finish_non_exhaustive()
    }
}
