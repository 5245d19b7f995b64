//! What a handler knows that asks nothing.

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
        auth::Grant,
        state::{AnyState, downcast},
    },
};

/// The server's side of a call: the application's state, who calls, and ways
/// to tell them how it goes. It cannot ask anything; that is what a
/// [`Conversation`](super::Conversation) is for.
pub struct ServerContext<S = ()> {
    pub(crate) invocation: Arc<Invocation>,
    state: AnyState,
    state_type: PhantomData<fn() -> S>,
}

impl ServerContext {
    pub(crate) fn new(invocation: Arc<Invocation>, state: AnyState) -> Self {
        Self {
            invocation,
            state,
            state_type: PhantomData,
        }
    }

    /// The same, for what is made for servers with this state.
    pub(crate) fn for_state<S>(self) -> ServerContext<S> {
        ServerContext {
            invocation: self.invocation,
            state: self.state,
            state_type: PhantomData,
        }
    }
}

impl<S: 'static> ServerContext<S> {
    /// The state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        downcast(&self.state)
    }
}

impl<S> ServerContext<S> {
    /// The name of the tool, prompt or resource that was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.invocation.name
    }

    /// The protocol version of the call.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.invocation.context.revision()
    }

    /// Who calls, if they said so. Anybody can say anything here.
    #[must_use]
    pub fn client(&self) -> Option<&Implementation> {
        self.invocation.context.client.info.as_ref()
    }

    /// What the caller says it can do.
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.invocation.context.client.capabilities
    }

    /// Whom the transport knows the caller to be, where it does. With tokens,
    /// that is their issuer and subject; [`grant`](Self::grant) has more.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.invocation.principal.as_deref()
    }

    /// What the caller's token says, where the caller was asked for one: who
    /// granted what to whom. The token itself stays outside.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        self.invocation.permissions.grant()
    }

    /// Sends a log message, if the client wants any of that level. Says
    /// whether it was sent. What a conversation said in an earlier round is not
    /// sent again.
    pub fn log<T: Serialize + ?Sized>(&self, level: LogLevel, data: &T) -> bool {
        self.send_log(None, level, data)
    }

    /// As [`log`](Self::log), under the name of a logger.
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

    /// Says how far the work has come, of how much if that is known, if the
    /// client asked for it. Each number must be greater than the one before;
    /// others are not sent, and neither is what a conversation said in an
    /// earlier round. Says whether it was sent.
    pub fn progress(&self, progress: f64, total: impl Into<Option<f64>>) -> bool {
        self.send_progress(progress, total.into(), None)
    }

    /// As [`progress`](Self::progress), with a message for people.
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

    /// Closes the connection on which the client waits for the answer, if the
    /// protocol lets it come back for the rest: over HTTP on 2025-11-25. It
    /// spares a server that takes long from holding connections open. Says
    /// whether that was done; the call goes on in any case.
    pub fn release_connection(&self) -> bool {
        self.invocation.channel.release_connection()
    }

    /// Waits until the call is over: answered, put off, called off, or lost.
    ///
    /// The handler itself is dropped then, or as soon as the steps have ended
    /// that it has begun. This is for work that it started elsewhere, in a task
    /// or thread of its own.
    pub fn finished(&self) -> impl Future<Output = ()> + Send + 'static {
        let lifecycle = Arc::clone(&self.invocation.lifecycle);
        async move { lifecycle.wait_finished().await }
    }
}

impl<S> Clone for ServerContext<S> {
    fn clone(&self) -> Self {
        Self {
            invocation: Arc::clone(&self.invocation),
            state: Arc::clone(&self.state),
            state_type: PhantomData,
        }
    }
}

impl<S> fmt::Debug for ServerContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut context = f.debug_struct("ServerContext");
        context.field("name", &self.name()).finish_non_exhaustive()
    }
}
