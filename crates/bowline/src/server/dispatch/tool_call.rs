//! How a valid call reaches its tool.

use std::{ops::Range, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    conversation_runner::{Cleanup, RoundHandler, run_conversation},
    request::{HandlerReply, OpenChannel, Request},
    tools::into_tool_result,
};
use crate::{
    proto::{jsonrpc::RawJson, model::CallToolResult, revision::Era, server::Reply},
    server::{
        conversation::{HandlerContext, invocation::Invocation},
        error::{Error, Result},
        replay::{error::invalid_state, round::ResumeInput},
        service::Core,
        state::AnyState,
        tool::{ConversationHandler, PlainHandler, Tool, ToolArguments},
    },
    transport::BoxFuture,
};

/// A call whose tool is known and whose arguments are valid.
pub(crate) struct ValidatedCall {
    pub(crate) request: Request,
    pub(crate) tool: Tool,
    pub(crate) arguments: CallArguments,
}

impl ValidatedCall {
    /// Returns the arguments, as received.
    pub(crate) fn raw_arguments(&self) -> Option<&[u8]> {
        let CallArguments { params, range, .. } = &self.arguments;
        params.get(range.clone()?)
    }
}

/// The arguments of a call.
pub(crate) struct CallArguments {
    pub(super) checked: ToolArguments,
    /// The params of the request.
    pub(crate) params: Bytes,
    /// The position of the arguments in them.
    pub(super) range: Option<Range<usize>>,
    pub(crate) resume: ResumeInput,
}

/// Starts calls of a tool. The implementation decides what a program links:
/// only tools with a context refer to conversations.
pub(crate) trait StartCall: Send + Sync {
    /// Starts a call. The handler itself runs in the reply's future.
    fn start(
        &self,
        core: Arc<Core>,
        call: ValidatedCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply;

    /// Returns the handler of a tool whose calls may become tasks.
    fn conversation_handler(&self) -> Option<&Arc<dyn ConversationHandler>> {
        None
    }
}

/// A tool whose handler is given its arguments and nothing else.
pub(crate) struct PlainTool(pub(crate) Arc<dyn PlainHandler>);

impl StartCall for PlainTool {
    fn start(&self, _: Arc<Core>, call: ValidatedCall, _: OpenChannel<'_>) -> HandlerReply {
        let ValidatedCall {
            request,
            tool,
            arguments,
        } = call;
        if arguments.resume.state.is_some() && request.context.era() == Era::Stateless {
            let error = invalid_state("this tool never suspends a call");
            return HandlerReply::Ready(Reply::Error(error));
        }
        let responder = ToolResponder {
            request,
            timeout: tool.shared.limits.timeout,
        };
        HandlerReply::Pending(Arc::clone(&self.0).run(arguments.checked, responder))
    }
}

/// A tool whose handler may ask the client questions.
pub(crate) struct ConversationTool(pub(crate) Arc<dyn ConversationHandler>);

impl StartCall for ConversationTool {
    fn start(
        &self,
        core: Arc<Core>,
        call: ValidatedCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        let channel = open_channel(&call.request);
        let ValidatedCall {
            request,
            tool,
            arguments,
        } = call;
        let mut invocation = core.invocation(request, tool.name(), channel, tool.shared.limits);
        invocation.arguments = arguments.range.map(|range| arguments.params.slice(range));
        let state = Arc::clone(&core.state);
        let round_handler = ToolRound::new(Arc::clone(&self.0), arguments.checked, state);
        let resume = arguments.resume;
        let reply = run_conversation(core, invocation, resume, round_handler, into_tool_result);
        HandlerReply::Pending(Box::pin(reply))
    }
}

/// One run of a tool's handler in a conversation.
pub(crate) struct ToolRound {
    handler: Arc<dyn ConversationHandler>,
    arguments: Option<ToolArguments>,
    state: AnyState,
}

impl ToolRound {
    pub(crate) fn new(
        handler: Arc<dyn ConversationHandler>,
        arguments: ToolArguments,
        state: AnyState,
    ) -> Self {
        Self {
            handler,
            arguments: Some(arguments),
            state,
        }
    }
}

impl RoundHandler<CallToolResult> for ToolRound {
    fn run(&mut self, invocation: Arc<Invocation>) -> BoxFuture<'static, Result<CallToolResult>> {
        let context = HandlerContext::new(invocation, Arc::clone(&self.state));
        match self.arguments.take() {
            Some(arguments) => self.handler.run(arguments, context),
            None => Box::pin(async { Err(Error::internal("the handler ran already")) }),
        }
    }

    fn cleanup(&mut self, before: &RawJson, invocation: &Arc<Invocation>) -> Option<Cleanup> {
        let context = HandlerContext::new(Arc::clone(invocation), Arc::clone(&self.state));
        self.handler.cleanup(before, context)
    }
}

/// Turns what a plain handler returns into the reply.
pub(crate) struct ToolResponder {
    request: Request,
    pub(crate) timeout: Option<Duration>,
}

impl ToolResponder {
    pub(crate) fn reply(&self, result: Result<CallToolResult>) -> Reply {
        match into_tool_result(result, &self.request.context) {
            Ok(result) => self.request.encode_reply(result),
            Err(error) => Reply::Error(error),
        }
    }
}
