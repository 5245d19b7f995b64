//! A tool's work, whatever its types are.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{Arguments, Output};
use crate::{
    proto::{jsonrpc::RawJson, model::CallToolResult, server::Reply},
    server::{
        Conversation, ServerContext,
        converse::{Cleanup, within},
        error::Result,
        request::{Handled, Voices},
        service::Core,
        tools::ToolCall,
    },
    transport::BoxFuture,
};

/// What a tool does when it is called.
pub(crate) trait Run: Send + Sync {
    /// Takes a call in. Does no work of the author's by itself.
    fn take(self: Arc<Self>, core: Arc<Core>, call: ToolCall, voice: Voices<'_>) -> Handled;
}

/// What a tool does in a conversation.
pub(crate) trait Talk: Send + Sync {
    fn talk(
        &self,
        arguments: Arguments,
        context: ServerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>>;

    /// What to do with the value of the first phase where the last is not
    /// reached, for tools that have phases.
    fn cleanup(&self, before: &RawJson, context: ServerContext) -> Option<Cleanup> {
        let _ = (before, context);
        None
    }
}

/// A tool that asks nothing and needs nothing but its arguments.
pub(super) struct Headless<I, F> {
    pub(super) work: F,
    pub(super) types: PhantomData<fn(I)>,
}

impl<I, O, F, W> Run for Headless<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn take(self: Arc<Self>, _: Arc<Core>, call: ToolCall, _: Voices<'_>) -> Handled {
        let alone = match call.alone() {
            Ok(alone) => alone,
            Err(error) => return Handled::Now(Reply::Error(error)),
        };
        let (arguments, end) = (alone.arguments, alone.end);
        let work = async move {
            let work = async { (self.work)(arguments.read()?).await?.into_result() };
            let ended = within(end.limit, Duration::ZERO, work).await;
            end.reply(ended.and_then(|ended| ended))
        };
        Handled::Later(Box::pin(work))
    }
}

/// A tool that may ask.
pub(super) struct Execute<S, I, F> {
    pub(super) work: F,
    pub(super) types: PhantomData<fn(S, I)>,
}

impl<S, I, O, F, W> Run for Execute<S, I, F>
where
    S: 'static,
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I, Conversation<S>) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn take(self: Arc<Self>, core: Arc<Core>, call: ToolCall, voice: Voices<'_>) -> Handled {
        core.talk(self, call, voice)
    }
}

impl<S, I, O, F, W> Talk for Execute<S, I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I, Conversation<S>) -> W + Send + Sync,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn talk(
        &self,
        arguments: Arguments,
        context: ServerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let conversation = Conversation::new(context.for_state());
        let work = arguments
            .read()
            .map(|input| (self.work)(input, conversation));
        Box::pin(async move { work?.await?.into_result() })
    }
}
