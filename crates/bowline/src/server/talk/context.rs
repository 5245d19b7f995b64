//! What a handler knows that asks nothing.

use std::{fmt, future::Future, marker::PhantomData, sync::Arc};

use serde::Serialize;

use super::call::Call;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{ClientCapabilities, Implementation, LogLevel},
        revision::Revision,
    },
    server::{
        auth::Grant,
        state::{AnyState, typed},
    },
};

/// The server's side of a call: the application's state, who calls, and ways
/// to tell them how it goes. It cannot ask anything; that is what a
/// [`Conversation`](super::Conversation) is for.
pub struct ServerContext<S = ()> {
    pub(crate) call: Arc<Call>,
    state: AnyState,
    typed: PhantomData<fn() -> S>,
}

impl ServerContext {
    pub(crate) fn new(call: Arc<Call>, state: AnyState) -> Self {
        Self {
            call,
            state,
            typed: PhantomData,
        }
    }

    /// The same, for what is made for servers with this state.
    pub(crate) fn for_state<S>(self) -> ServerContext<S> {
        ServerContext {
            call: self.call,
            state: self.state,
            typed: PhantomData,
        }
    }
}

impl<S: 'static> ServerContext<S> {
    /// The state of the application.
    #[must_use]
    pub fn state(&self) -> &S {
        typed(&self.state)
    }
}

impl<S> ServerContext<S> {
    /// The name of the tool, prompt or resource that was asked for.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// The protocol version of the call.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.call.context.revision()
    }

    /// Who calls, if they said so. Anybody can say anything here.
    #[must_use]
    pub fn client(&self) -> Option<&Implementation> {
        self.call.context.client.info.as_ref()
    }

    /// What the caller says it can do.
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.call.context.client.capabilities
    }

    /// Whom the transport knows the caller to be, where it does. With tokens,
    /// that is their issuer and subject; [`grant`](Self::grant) has more.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.call.principal.as_deref()
    }

    /// What the caller's token says, where the caller was asked for one: who
    /// granted what to whom. The token itself stays outside.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        self.call.granted.grant()
    }

    /// Sends a log message, if the client wants any of that level. Says
    /// whether it was sent. What a conversation said in an earlier round is not
    /// sent again.
    pub fn log<T: Serialize + ?Sized>(&self, level: LogLevel, data: &T) -> bool {
        self.log_as(None, level, data)
    }

    /// As [`log`](Self::log), under the name of a logger.
    pub fn log_from<T: Serialize + ?Sized>(&self, logger: &str, level: LogLevel, data: &T) -> bool {
        self.log_as(Some(logger), level, data)
    }

    fn log_as<T: Serialize + ?Sized>(
        &self,
        logger: Option<&str>,
        level: LogLevel,
        data: &T,
    ) -> bool {
        match RawJson::encode(data) {
            Ok(data) if !self.call.is_replaying() => self.call.voice.log(level, logger, data),
            _ => false,
        }
    }

    /// Says how far the work has come, of how much if that is known, if the
    /// client asked for it. Each number must be greater than the one before;
    /// others are not sent, and neither is what a conversation said in an
    /// earlier round. Says whether it was sent.
    pub fn progress(&self, progress: f64, total: impl Into<Option<f64>>) -> bool {
        self.say_progress(progress, total.into(), None)
    }

    /// As [`progress`](Self::progress), with a message for people.
    pub fn progress_with(
        &self,
        progress: f64,
        total: impl Into<Option<f64>>,
        message: &str,
    ) -> bool {
        self.say_progress(progress, total.into(), Some(message))
    }

    fn say_progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let call = &self.call;
        !call.is_replaying() && call.voice.progress(progress, total, message)
    }

    /// Closes the connection on which the client waits for the answer, if the
    /// protocol lets it come back for the rest: over HTTP on 2025-11-25. It
    /// spares a server that takes long from holding connections open. Says
    /// whether that was done; the call goes on in any case.
    pub fn release_connection(&self) -> bool {
        self.call.voice.pause()
    }

    /// Waits until the call is over: answered, put off, called off, or lost.
    ///
    /// The handler itself is dropped then, or as soon as the steps have ended
    /// that it has begun. This is for work that it started elsewhere, in a task
    /// or thread of its own.
    pub fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let presence = Arc::clone(&self.call.presence);
        async move { presence.until_over().await }
    }
}

impl<S> Clone for ServerContext<S> {
    fn clone(&self) -> Self {
        Self {
            call: Arc::clone(&self.call),
            state: Arc::clone(&self.state),
            typed: PhantomData,
        }
    }
}

impl<S> fmt::Debug for ServerContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut context = f.debug_struct("ServerContext");
        context.field("name", &self.name()).finish_non_exhaustive()
    }
}
