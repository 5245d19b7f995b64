//! Tools in three phases: before the questions, the questions, and after them.

use std::{fmt, future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    ConversationHandler, IntoToolResult, PhaseValue, Tool, ToolArguments, ToolFn2, ToolFn3,
    builder::ToolSpec,
};
use crate::{
    proto::{jsonrpc::RawJson, model::CallToolResult},
    server::{
        Conversation, HandlerContext, conversation::invocation::Invocation,
        dispatch::conversation_runner::Cleanup, error::Result,
    },
    transport::BoxFuture,
};

// Step names of the phases. Authors' steps cannot have these names.
pub(crate) const BEFORE: &str = "!before";
pub(crate) const AFTER: &str = "!after";
pub(crate) const CLEANUP: &str = "!cleanup";

/// A phase of a tool, with its types erased.
type Phase<In, Out> = Arc<dyn Fn(In) -> BoxFuture<'static, Result<Out>> + Send + Sync>;

/// A tool in three phases that needs its first phase, `before`.
#[must_use = "a tool without its phases is not complete"]
#[derive(Debug)]
pub struct PhasesNeedBefore<I> {
    spec: ToolSpec,
    input: std::marker::PhantomData<fn(I)>,
}

/// A tool in three phases that needs its second phase, `ask`.
#[must_use = "a tool without `ask` and `after` is not complete"]
pub struct PhasesNeedAsk<S, I, H> {
    spec: ToolSpec,
    before: Phase<(I, HandlerContext<S>), H>,
}

/// A tool in three phases that needs its last phase, `after`.
#[must_use = "a tool without `after` is not complete"]
pub struct PhasesNeedAfter<S, I, H, R> {
    spec: ToolSpec,
    before: Phase<(I, HandlerContext<S>), H>,
    ask: Phase<(H, Conversation<S>), R>,
    cleanup: Option<Phase<(H, HandlerContext<S>), ()>>,
}

impl<I> PhasesNeedBefore<I> {
    pub(super) fn new(spec: ToolSpec) -> Self {
        Self {
            spec,
            input: std::marker::PhantomData,
        }
    }

    /// Sets the first phase, which runs before any question and cannot ask. It
    /// runs once; its return value is recorded as JSON and passed to both other
    /// phases.
    pub fn before<S, H, F, W>(self, before: F) -> PhasesNeedAsk<S, I, H>
    where
        H: PhaseValue,
        F: ToolFn2<I, HandlerContext<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<H>> + Send + 'static,
    {
        PhasesNeedAsk {
            spec: self.spec,
            before: Arc::new(move |(input, context)| Box::pin(before(input, context))),
        }
    }
}

impl<S, I, H> PhasesNeedAsk<S, I, H> {
    /// Sets the second phase: the conversation with the user and with models.
    pub fn ask<R, F, W>(self, ask: F) -> PhasesNeedAfter<S, I, H, R>
    where
        F: ToolFn2<H, Conversation<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<R>> + Send + 'static,
    {
        PhasesNeedAfter {
            spec: self.spec,
            before: self.before,
            ask: Arc::new(move |(value, cx)| Box::pin(ask(value, cx))),
            cleanup: None,
        }
    }
}

impl<S, I, H, R> PhasesNeedAfter<S, I, H, R>
where
    S: Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    H: Serialize + DeserializeOwned + Send + 'static,
    R: Send + 'static,
{
    /// Sets a function that releases what the first phase reserved. It runs if the
    /// last phase is not reached: because the conversation failed or timed out, or
    /// because the client disconnected and cannot resume the call.
    ///
    /// In revision 2026-07-28, the server does not notice when a client never sends
    /// its answers, so give reservations a time limit of their own. If the client
    /// sends its answers within two and a half minutes after the conversation has
    /// expired, the cleanup runs; later, they are refused and nothing runs.
    pub fn cleanup<F, W>(mut self, cleanup: F) -> Self
    where
        F: ToolFn2<H, HandlerContext<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<()>> + Send + 'static,
    {
        self.cleanup = Some(Arc::new(move |(value, cx)| Box::pin(cleanup(value, cx))));
        self
    }

    /// Sets the third phase, which runs after all questions are answered and cannot
    /// ask. It receives the return values of the first and the second phase. It
    /// runs once per conversation, across all nodes; a client that repeats its last
    /// round receives the same response again.
    pub fn after<O, F, W>(self, after: F) -> Tool<S>
    where
        O: IntoToolResult,
        F: ToolFn3<H, R, HandlerContext<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let after: Phase<(H, R, HandlerContext<S>), CallToolResult> =
            Arc::new(move |(value, result, context)| {
                let work = after(value, result, context);
                Box::pin(async move { work.await?.into_result() })
            });
        let phases = Phases {
            before: self.before,
            ask: self.ask,
            cleanup: self.cleanup,
            after,
        };
        let handler = Arc::new(PhasesHandler(Arc::new(phases)));
        let handler = self.spec.conversation_tool(handler);
        self.spec.build(O::schema(), handler).for_state()
    }
}

/// A tool in three phases.
struct PhasesHandler<S, I, H, R>(Arc<Phases<S, I, H, R>>);

struct Phases<S, I, H, R> {
    before: Phase<(I, HandlerContext<S>), H>,
    ask: Phase<(H, Conversation<S>), R>,
    cleanup: Option<Phase<(H, HandlerContext<S>), ()>>,
    after: Phase<(H, R, HandlerContext<S>), CallToolResult>,
}

impl<S, I, H, R> ConversationHandler for PhasesHandler<S, I, H, R>
where
    S: Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    H: Serialize + DeserializeOwned + Send + 'static,
    R: Send + 'static,
{
    fn run(
        &self,
        arguments: ToolArguments,
        context: HandlerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let phases = Arc::clone(&self.0);
        Box::pin(async move {
            phases
                .run(arguments.deserialize()?, context.for_state())
                .await
        })
    }

    fn cleanup(&self, before: &RawJson, context: HandlerContext) -> Option<Cleanup> {
        let cleanup = self.0.cleanup.as_ref()?;
        Some(cleanup((before.decode().ok()?, context.for_state())))
    }
}

impl<S, I, H, R> Phases<S, I, H, R>
where
    S: Send + Sync + 'static,
    H: Serialize + DeserializeOwned + Send + 'static,
{
    async fn run(&self, input: I, context: HandlerContext<S>) -> Result<CallToolResult> {
        let invocation = Arc::clone(&context.invocation);
        let before = async {
            let value = (self.before)((input, context.clone())).await?;
            Ok(RawJson::encode(&value)?)
        };
        let value: RawJson = invocation.step(BEFORE, before).await?;
        // Armed until one of the final phases below begins.
        let _cleanup_guard = CleanupGuard {
            cleanup: self.cleanup.as_ref(),
            value: &value,
            context: &context,
        };
        let conversation = Conversation::new(context.clone());
        let ended = (self.ask)((value.decode()?, conversation)).await;
        match ended {
            Ok(result) => {
                let value = value.decode()?;
                let after = (self.after)((value, result, context.clone()));
                invocation
                    .step(AFTER, run_final_phase(&invocation, after))
                    .await
            }
            // The client may retry and declare the capability.
            Err(error) if error.is_missing_capability() && invocation.journal.is_some() => {
                Err(error)
            }
            Err(error) => {
                if let Some(cleanup) = &self.cleanup {
                    let cleanup = cleanup((value.decode()?, context.clone()));
                    // The reason why the conversation failed matters more.
                    let _ = invocation
                        .step(CLEANUP, run_final_phase(&invocation, cleanup))
                        .await;
                }
                Err(error)
            }
        }
    }
}

/// Runs a final phase, after which there is nothing to clean up.
async fn run_final_phase<T>(
    invocation: &Invocation,
    phase: BoxFuture<'static, Result<T>>,
) -> Result<T> {
    invocation.begin_final_phase();
    phase.await
}

/// Cleans up after a conversation that is dropped before its last phase and
/// cannot be resumed.
struct CleanupGuard<'a, S, H>
where
    S: Send + Sync + 'static,
    H: DeserializeOwned + Send + 'static,
{
    cleanup: Option<&'a Phase<(H, HandlerContext<S>), ()>>,
    value: &'a RawJson,
    context: &'a HandlerContext<S>,
}

impl<S, H> Drop for CleanupGuard<'_, S, H>
where
    S: Send + Sync + 'static,
    H: DeserializeOwned + Send + 'static,
{
    fn drop(&mut self) {
        // A replayed conversation is dropped at every question.
        let invocation = &self.context.invocation;
        if invocation.uses_replay() && !invocation.is_abandoned() {
            return;
        }
        if let Some(cleanup) = self.cleanup
            && invocation.begin_final_phase()
            && let Ok(value) = self.value.decode()
        {
            let cleanup = cleanup((value, self.context.clone()));
            invocation.lifecycle.spawn(async move {
                let _ = cleanup.await;
            });
        }
    }
}

impl<S, I, H> fmt::Debug for PhasesNeedAsk<S, I, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhasesNeedAsk").finish_non_exhaustive()
    }
}

impl<S, I, H, R> fmt::Debug for PhasesNeedAfter<S, I, H, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhasesNeedAfter").finish_non_exhaustive()
    }
}
