//! A tool's work, whatever its types are.

use std::{future::Future, marker::PhantomData, sync::Arc, time::Duration};

use serde::de::DeserializeOwned;

use super::{Arguments, Output, Tool};
use crate::{
    proto::{model::CallToolResult, server::Reply},
    server::{Conversation, ServerContext, converse::within, error::Result, tools::End},
    transport::BoxFuture,
};

/// What a tool does with its arguments.
pub(crate) trait Run<S>: Send + Sync {
    fn run(
        &self,
        arguments: Arguments,
        context: ServerContext<S>,
    ) -> BoxFuture<'static, Result<CallToolResult>>;

    /// The same, where the arguments are all that it takes.
    fn alone(self: Arc<Self>) -> Option<Arc<dyn RunAlone>> {
        None
    }
}

/// What a tool does that needs nothing but its arguments, and so nothing of
/// the call that it is made with.
pub(crate) trait RunAlone: Send + Sync {
    /// Runs it to its end, which becomes the answer.
    fn run_alone(self: Arc<Self>, arguments: Arguments, end: End) -> BoxFuture<'static, Reply>;
}

/// A tool that asks nothing and needs nothing but its arguments.
pub(super) struct Headless<I, F> {
    pub(super) work: F,
    pub(super) input: PhantomData<fn(I)>,
}

impl<S, I, O, F, W> Run<S> for Headless<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run(
        &self,
        arguments: Arguments,
        _context: ServerContext<S>,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let work = arguments.read().map(&self.work);
        Box::pin(async move { work?.await?.into_result() })
    }

    fn alone(self: Arc<Self>) -> Option<Arc<dyn RunAlone>> {
        Some(self)
    }
}

impl<I, O, F, W> RunAlone for Headless<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I) -> W + Send + Sync + 'static,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run_alone(self: Arc<Self>, arguments: Arguments, end: End) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let work = async { (self.work)(arguments.read()?).await?.into_result() };
            let ended = within(end.limit, Duration::ZERO, work).await;
            end.reply(ended.and_then(|ended| ended))
        })
    }
}

/// A tool that may ask.
pub(super) struct Execute<I, F> {
    pub(super) work: F,
    pub(super) input: PhantomData<fn(I)>,
}

impl<S, I, O, F, W> Run<S> for Execute<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Output,
    F: Fn(I, Conversation<S>) -> W + Send + Sync,
    W: Future<Output = Result<O>> + Send + 'static,
{
    fn run(
        &self,
        arguments: Arguments,
        context: ServerContext<S>,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let conversation = Conversation::new(context);
        let work = arguments
            .read()
            .map(|input| (self.work)(input, conversation));
        Box::pin(async move { work?.await?.into_result() })
    }
}

/// A tool without state in a server that has some.
pub(super) struct Stateless(pub(super) Tool<()>);

impl<S> Run<S> for Stateless {
    fn run(
        &self,
        arguments: Arguments,
        context: ServerContext<S>,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let context = context.with_state(Arc::new(()));
        self.0.shared.run.run(arguments, context)
    }

    fn alone(self: Arc<Self>) -> Option<Arc<dyn RunAlone>> {
        Arc::clone(&self.0.shared.run).alone()
    }
}
