//! Tool handlers, with their types erased.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{IntoToolResult, ToolArguments};
use crate::{
    proto::{jsonrpc::RawJson, model::CallToolResult, server::Reply},
    server::{
        Conversation, ServerContext,
        dispatch::{
            conversation_runner::{Cleanup, with_timeout},
            request::{HandlerReply, OpenChannel},
            tools::ToolCall,
        },
        error::Result,
        service::Core,
    },
    transport::BoxFuture,
};

/// Handles calls of a tool.
pub(crate) trait ToolHandler: Send + Sync {
    /// Accepts a call. Does not run any of the author's code itself.
    fn dispatch(
        self: Arc<Self>,
        core: Arc<Core>,
        call: ToolCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply;
}

/// Runs a tool in a conversation.
pub(crate) trait ConversationHandler: Send + Sync {
    fn run(
        &self,
        arguments: ToolArguments,
        context: ServerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>>;

    /// Returns the cleanup of the first phase's value if the last phase is not
    /// reached, for tools in three phases.
    fn cleanup(&self, before: &RawJson, context: ServerContext) -> Option<Cleanup> {
        let _ = (before, context);
        None
    }
}

/// A handler that asks nothing and needs nothing but its arguments.
pub(super) struct PlainHandler<I, F> {
    pub(super) function: F,
    pub(super) types: PhantomData<fn(I)>,
}

impl<I, O, F, W> ToolHandler for PlainHandler<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: IntoToolResult,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn dispatch(self: Arc<Self>, _: Arc<Core>, call: ToolCall, _: OpenChannel<'_>) -> HandlerReply {
        let direct = match call.into_direct() {
            Ok(direct) => direct,
            Err(error) => return HandlerReply::Ready(Reply::Error(error)),
        };
        let (arguments, responder) = (direct.arguments, direct.responder);
        let work = async move {
            let work = async {
                (self.function)(arguments.deserialize()?)
                    .await?
                    .into_result()
            };
            let ended = with_timeout(responder.timeout, Duration::ZERO, work).await;
            responder.reply(ended.and_then(|ended| ended))
        };
        HandlerReply::Pending(Box::pin(work))
    }
}

/// A handler that may ask the client.
pub(super) struct ContextHandler<S, I, F> {
    pub(super) function: F,
    pub(super) types: PhantomData<fn(S, I)>,
}

impl<S, I, O, F, W> ToolHandler for ContextHandler<S, I, F>
where
    S: 'static,
    I: DeserializeOwned + Send + 'static,
    O: IntoToolResult,
    F: Fn(I, Conversation<S>) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn dispatch(
        self: Arc<Self>,
        core: Arc<Core>,
        call: ToolCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        core.start_conversation(self, call, open_channel)
    }
}

impl<S, I, O, F, W> ConversationHandler for ContextHandler<S, I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: IntoToolResult,
    F: Fn(I, Conversation<S>) -> W + Send + Sync,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run(
        &self,
        arguments: ToolArguments,
        context: ServerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let conversation = Conversation::new(context.for_state());
        let work = arguments
            .deserialize()
            .map(|input| (self.function)(input, conversation));
        Box::pin(async move { work?.await?.into_result() })
    }
}
