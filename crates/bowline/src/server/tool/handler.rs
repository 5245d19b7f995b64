//! A tool's handler, without its types.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{IntoToolResult, ToolArguments};
use crate::{
    proto::{jsonrpc::RawJson, model::CallToolResult, server::Reply},
    server::{
        Conversation, HandlerContext,
        dispatch::{
            conversation_runner::{Cleanup, with_timeout},
            tool_call::ToolResponder,
        },
        error::Result,
    },
    transport::BoxFuture,
};

/// A handler that is given its arguments and nothing else.
pub(crate) trait PlainHandler: Send + Sync {
    fn run(
        self: Arc<Self>,
        arguments: ToolArguments,
        responder: ToolResponder,
    ) -> BoxFuture<'static, Reply>;

    /// Runs the handler without a time limit and without a request to respond to.
    fn run_to_result(
        self: Arc<Self>,
        arguments: ToolArguments,
    ) -> BoxFuture<'static, Result<CallToolResult>>;
}

/// A handler that may ask the client questions.
pub(crate) trait ConversationHandler: Send + Sync {
    fn run(
        &self,
        arguments: ToolArguments,
        context: HandlerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>>;

    /// Releases the value of the first phase if the last phase is not reached,
    /// for tools that have phases.
    fn cleanup(&self, before: &RawJson, context: HandlerContext) -> Option<Cleanup> {
        let _ = (before, context);
        None
    }
}

/// An author's function of the arguments.
pub(super) struct PlainFunction<I, F> {
    pub(super) function: F,
    pub(super) types: PhantomData<fn(I)>,
}

impl<I, O, F, W> PlainHandler for PlainFunction<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: IntoToolResult,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run(
        self: Arc<Self>,
        arguments: ToolArguments,
        responder: ToolResponder,
    ) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let work = self.call(arguments);
            let result = with_timeout(responder.timeout, Duration::ZERO, work).await;
            responder.reply(result.and_then(|result| result))
        })
    }

    fn run_to_result(
        self: Arc<Self>,
        arguments: ToolArguments,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        Box::pin(async move { self.call(arguments).await })
    }
}

impl<I: DeserializeOwned, F> PlainFunction<I, F> {
    async fn call<O: IntoToolResult, W>(&self, arguments: ToolArguments) -> Result<CallToolResult>
    where
        F: Fn(I) -> W,
        W: Future<Output = Result<O>>,
    {
        let output = (self.function)(arguments.deserialize()?).await?;
        output.into_result()
    }
}

/// An author's function of the arguments and a [`Conversation`].
pub(super) struct ContextFunction<S, I, F> {
    pub(super) function: F,
    pub(super) types: PhantomData<fn(S, I)>,
}

impl<S, I, O, F, W> ConversationHandler for ContextFunction<S, I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: IntoToolResult,
    F: Fn(I, Conversation<S>) -> W + Send + Sync,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run(
        &self,
        arguments: ToolArguments,
        context: HandlerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let conversation = Conversation::new(context.for_state());
        let work = arguments
            .deserialize()
            .map(|input| (self.function)(input, conversation));
        Box::pin(async move { work?.await?.into_result() })
    }
}
