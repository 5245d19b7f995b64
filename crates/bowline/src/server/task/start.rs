//! Turning a call into a task.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    TASKS, TaskChannel, TaskPolicy,
    engine::{TaskEngine, TaskKey},
    record::{StoredCall, TaskRecord},
    run::RunningRound,
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, decode},
        model::{CallToolResult, InputResponses, ResultObject, TaskMetadata},
        server::{CallMode, Reply, RequestContext, call_mode, encode_response, errors},
        task::{Dialect, Task},
    },
    server::{
        Conversation, HandlerContext,
        dispatch::{
            request::{HandlerReply, OpenChannel, Request},
            router::Feature,
            tool_call::{ConversationTool, PlainTool, StartCall, ValidatedCall},
        },
        error::Result,
        service::Core,
        tool::{ConversationHandler, PlainHandler, ToolArguments},
    },
    transport::BoxFuture,
};

/// What [`ToolBuilder::task`](crate::server::tool::ToolBuilder::task) adds to a tool. Only
/// programs that call it link the code behind it.
#[derive(Clone, Copy)]
pub(crate) struct TaskSetting {
    pub(crate) policy: TaskPolicy,
    /// What a server with such a tool offers.
    pub(crate) feature: &'static Feature,
    /// Makes calls of the tool become tasks.
    pub(crate) wrap: fn(TaskableHandler, TaskPolicy) -> Arc<dyn StartCall>,
}

/// The handler of a tool, without its types.
pub(crate) enum TaskableHandler {
    Plain(Arc<dyn PlainHandler>),
    /// A handler that has a context, but cannot make steps.
    Context(Arc<dyn ConversationHandler>),
    Conversation(Arc<dyn ConversationHandler>),
}

impl fmt::Debug for TaskSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}

impl TaskSetting {
    pub(crate) fn new(policy: TaskPolicy) -> Self {
        Self {
            policy,
            feature: &TASKS,
            wrap: TaskTool::wrap,
        }
    }
}

/// A tool whose calls may become tasks.
struct TaskTool {
    policy: TaskPolicy,
    /// Starts calls that do not.
    without_task: Arc<dyn StartCall>,
    handler: Arc<dyn ConversationHandler>,
}

impl TaskTool {
    fn wrap(handler: TaskableHandler, policy: TaskPolicy) -> Arc<dyn StartCall> {
        Arc::new(match handler {
            TaskableHandler::Plain(handler) => Self {
                policy,
                without_task: Arc::new(PlainTool(Arc::clone(&handler))),
                handler: Arc::new(PlainAsStep(handler)),
            },
            TaskableHandler::Context(handler) => Self {
                policy,
                without_task: Arc::new(ConversationTool(Arc::clone(&handler))),
                handler: Arc::new(ContextAsStep(handler)),
            },
            TaskableHandler::Conversation(handler) => Self {
                policy,
                without_task: Arc::new(ConversationTool(Arc::clone(&handler))),
                handler,
            },
        })
    }

    /// Returns how the call is answered.
    fn mode(&self, call: &ValidatedCall) -> Result<CallMode, ErrorObject> {
        let context = &call.request.context;
        let requested = match Dialect::of(&context.rules.features) {
            Some(Dialect::Core) => requested_task(&call.arguments.params)?,
            _ => None,
        };
        let client = &context.client.capabilities;
        call_mode(
            context.rules,
            client,
            &self.policy.support(),
            requested.as_ref(),
        )
    }
}

impl StartCall for TaskTool {
    fn start(
        &self,
        core: Arc<Core>,
        call: ValidatedCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        let ttl = match self.mode(&call) {
            Ok(CallMode::Task { ttl }) => ttl,
            Ok(CallMode::Result) => return self.without_task.start(core, call, open_channel),
            Err(error) => return HandlerReply::Ready(Reply::Error(error)),
        };
        core.start_takeovers();
        let dialect = Dialect::of(&call.request.context.rules.features);
        let work: BoxFuture<'static, Result<Reply, ErrorObject>> = match (self.policy, dialect) {
            (TaskPolicy::After(limit), Some(Dialect::Extension)) => {
                let channel = TaskChannel::connected(open_channel(&call.request));
                Box::pin(core.run_before_task(call, channel, limit))
            }
            _ => Box::pin(core.create_task(call, ttl)),
        };
        let reply = async move { work.await.unwrap_or_else(Reply::Error) };
        HandlerReply::Pending(Box::pin(reply))
    }

    fn conversation_handler(&self) -> Option<&Arc<dyn ConversationHandler>> {
        Some(&self.handler)
    }
}

/// Runs a plain handler as the only step of a conversation: if its node dies, it is
/// not run again, and the task says that its outcome is unknown.
struct PlainAsStep(Arc<dyn PlainHandler>);

impl ConversationHandler for PlainAsStep {
    fn run(
        &self,
        arguments: ToolArguments,
        context: HandlerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let call = Arc::clone(&self.0).run_to_result(arguments);
        run_as_only_step(context, call)
    }
}

/// The same for a handler that has a context.
struct ContextAsStep(Arc<dyn ConversationHandler>);

impl ConversationHandler for ContextAsStep {
    fn run(
        &self,
        arguments: ToolArguments,
        context: HandlerContext,
    ) -> BoxFuture<'static, Result<CallToolResult>> {
        let call = self.0.run(arguments, context.clone());
        run_as_only_step(context, call)
    }
}

fn run_as_only_step(
    context: HandlerContext,
    call: BoxFuture<'static, Result<CallToolResult>>,
) -> BoxFuture<'static, Result<CallToolResult>> {
    Box::pin(async move {
        let conversation: Conversation = Conversation::new(context);
        conversation.step("call", call).await
    })
}

/// Returns the `task` parameter of a call.
fn requested_task(params: &[u8]) -> Result<Option<TaskMetadata>, ErrorObject> {
    #[derive(serde::Deserialize)]
    struct Params {
        #[serde(default)]
        task: Option<TaskMetadata>,
    }
    let params: Params = decode(params).map_err(|error| errors::invalid_params(&error))?;
    Ok(params.task)
}

impl Core {
    /// Answers a call with a task, and runs it.
    async fn create_task(
        self: Arc<Self>,
        call: ValidatedCall,
        ttl: Option<Duration>,
    ) -> Result<Reply, ErrorObject> {
        let (key, record) = self.new_task(&call, ttl).await?;
        // Whoever asks for the task at once must find it.
        let caller = &call.request.origin.caller;
        let lease = self.store_new_task(&key, &record, caller).await?;
        let reply = created_reply(&call.request, &record.task);
        self.spawn_task(key, record, lease);
        reply
    }

    /// Runs a call, and answers it with a task if it takes longer than the limit and
    /// another task may run here. Until then, and if it cannot be stored, it is a call
    /// like any other.
    async fn run_before_task(
        self: Arc<Self>,
        call: ValidatedCall,
        channel: TaskChannel,
        limit: Duration,
    ) -> Result<Reply, ErrorObject> {
        let (key, record) = self.new_task(&call, None).await?;
        let mut round = self.start_task_round(&record, channel.clone())?;
        let context = &call.request.context;
        let turn = async {
            tokio::time::sleep(limit).await;
            self.task_engine.permit().await
        };
        let permit = tokio::select! {
            biased;
            recorded = &mut round => return Ok(recorded.into_reply(context)),
            permit = turn => permit,
        };
        let caller = &call.request.origin.caller;
        let created = tokio::select! {
            biased;
            recorded = &mut round => return Ok(recorded.into_reply(context)),
            created = self.store_new_task(&key, &record, caller) => created,
        };
        let Ok(lease) = created else {
            // It has begun, so it ends as a call like any other.
            drop(permit);
            return Ok(round.await.into_reply(context));
        };
        // From here on, nothing about it may be sent but the answers to questions
        // about the task.
        channel.disconnect();
        let reply = created_reply(&call.request, &record.task);
        let running = RunningRound {
            round,
            channel,
            permit,
        };
        self.spawn_running_task(key, record, lease, running);
        reply
    }

    /// Returns a new task for a call, which is not stored yet.
    async fn new_task(
        &self,
        call: &ValidatedCall,
        ttl: Option<Duration>,
    ) -> Result<(TaskKey, TaskRecord), ErrorObject> {
        let (engine, request) = (&self.task_engine, &call.request);
        let arguments = call.raw_arguments();
        let stored_call = StoredCall {
            tool: call.tool.name().into(),
            arguments: arguments.map(raw_json).transpose()?,
            principal: request.principal.as_deref().map(Into::into),
            permissions: request.permissions.to_stored(),
            revision: request.context.revision().as_str().into(),
            capabilities: request.context.client.capabilities.clone(),
            client: request.context.client.info.clone(),
        };
        let key = TaskKey {
            id: TaskEngine::new_id(),
            account: stored_call.account(),
        };
        let ttl = engine.options.ttl_for(ttl);
        let poll_interval = engine.options.poll_interval;
        let task = Task::new(key.id.clone(), engine.now(), Some(ttl), poll_interval);
        let (state, answers) = match &call.arguments.resume.state {
            Some(state) => (state.clone(), call.arguments.resume.answers.clone()),
            None => {
                let binding = stored_call.binding();
                let state = self.replay.begin_kept(&binding, &key.account, ttl).await?;
                (state, InputResponses::new())
            }
        };
        let record = TaskRecord {
            task,
            call: stored_call,
            state,
            answers,
        };
        Ok((key, record))
    }
}

pub(super) fn raw_json(json: &[u8]) -> Result<RawJson, ErrorObject> {
    let text = String::from_utf8_lossy(json).into_owned();
    RawJson::from_string(text).map_err(|error| errors::internal_error(&error.to_string()))
}

/// Encodes the answer to a call that became a task.
fn created_reply(request: &Request, task: &Task) -> Result<Reply, ErrorObject> {
    match Dialect::of(&request.context.rules.features) {
        Some(Dialect::Core) => encode(request, task.to_core_create_result()),
        _ => encode(request, task.to_create_result()),
    }
}

fn encode(request: &Request, result: impl ResultObject) -> Result<Reply, ErrorObject> {
    let context: &RequestContext = &request.context;
    encode_response(context, &request.id, result)
        .map(Reply::Response)
        .map_err(|error| errors::internal_error(&error.to_string()))
}
