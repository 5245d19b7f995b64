//! Listing and calling tools.

use std::{borrow::Cow, ops::Range, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    catalog::{Catalog, Section},
    conversation_runner::{Cleanup, ConversationRequest, RoundHandler, run_conversation},
    list::{CatalogItem, ListItem},
    request::{Dispatched, HandlerReply, OpenChannel, Request, encode_reply},
    router::Feature,
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, RequestId, code, decode},
        model::{CacheScope, CallToolResult, InputResponses, ListToolsResult, method},
        revision::Era,
        server::{CacheHint, ListKind, ParsedCall, Reply, RequestContext, errors},
    },
    server::{
        auth::{self, grant::Permissions},
        builder::BuildError,
        capability::{CapabilitySet, ClientCapability},
        conversation::{ServerContext, invocation::Invocation},
        error::{Error, ErrorKind},
        replay::{error::invalid_state, round::ResumeInput},
        schema::SharedBudget,
        service::{Core, Service},
        state::AnyState,
        tool::{ConversationHandler, Tool, ToolArguments},
    },
    transport::BoxFuture,
};

impl ListItem for Tool {
    type Page = ListToolsResult;

    const KIND: &'static str = "tool";
    const LIST_KIND: ListKind = ListKind::Tools;
    const CAPABILITY: &'static str = "tools";
    const METHOD: &'static str = method::TOOLS_LIST;

    fn name(&self) -> &str {
        self.name()
    }

    fn problem(&self) -> Option<&str> {
        self.shared.problem.as_deref()
    }

    fn needs(&self) -> CapabilitySet {
        self.shared.needs
    }

    #[cfg(feature = "http-server")]
    fn has_headers(&self) -> bool {
        !self.shared.headers.is_empty()
    }

    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> ListToolsResult {
        let tools = items.iter().map(|tool| tool.definition().clone());
        let mut page = ListToolsResult::new(tools.collect::<Vec<_>>());
        page.next_cursor = next;
        (page.ttl_ms, page.cache_scope) = cache_fields(hint);
        page
    }
}

impl CatalogItem for Tool {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>> {
        &mut catalog.tools
    }
}

/// Returns the cache fields of pages and resources.
pub(crate) fn cache_fields(hint: &CacheHint) -> (Option<i64>, Option<CacheScope>) {
    let ttl = i64::try_from(hint.ttl.as_millis()).unwrap_or(i64::MAX);
    (Some(ttl), Some(hint.scope.clone()))
}

/// Changing tools at run time.
impl<S: Send + Sync + 'static> Service<S> {
    /// Adds a tool and notifies clients.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is in use, the tool is invalid, or the
    /// server was built without tools.
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        self.add(tool.for_state::<()>())
    }

    /// Removes a tool and notifies clients. Returns whether it existed. Calls
    /// in progress continue.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove::<Tool>(name)
    }

    /// Notifies clients that the list of tools has changed, for changes that
    /// only the application knows about.
    pub fn tools_changed(&self) {
        self.notify_list_changed(ListKind::Tools);
    }

    /// Returns all tools, in order, for tests and manifests.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool<S>> {
        let tools = self.core.catalog().tools.items().to_vec();
        tools.into_iter().map(Tool::for_state).collect()
    }
}

/// The params of a call, borrowed from the request.
#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "raw_arguments")]
    arguments: Option<&'a str>,
    #[serde(rename = "inputResponses", default)]
    input_responses: Option<InputResponses>,
    #[serde(rename = "requestState", default)]
    request_state: Option<String>,
}

impl<'a> CallParams<'a> {
    fn parse(params: &'a [u8], context: &RequestContext) -> Result<Self, ErrorObject> {
        if let Some(ParsedCall { name, arguments }) = context.parse_call(params) {
            return Ok(Self {
                name,
                arguments,
                input_responses: None,
                request_state: None,
            });
        }
        decode(params).map_err(|fault| errors::invalid_params(&fault))
    }
}

fn raw_arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(deserializer)?;
    Ok(raw.map(RawValue::get))
}

/// A call whose tool exists and whose arguments are valid.
struct PreparedCall {
    tool: Tool,
    arguments: ToolArguments,
    /// The params, and the range of the arguments in them.
    params: Bytes,
    arguments_range: Option<Range<usize>>,
    resume: ResumeInput,
}

/// A prepared call and its request.
pub(crate) struct ToolCall {
    request: Request,
    prepared: PreparedCall,
}

/// A call of a tool that asks nothing.
pub(crate) struct DirectCall {
    pub(crate) arguments: ToolArguments,
    pub(crate) responder: ToolResponder,
}

impl ToolCall {
    /// Converts the call into one of a tool that asks nothing, and so is never
    /// suspended.
    ///
    /// # Errors
    ///
    /// Returns an error if the call resumes a suspended one.
    pub(crate) fn into_direct(self) -> Result<DirectCall, ErrorObject> {
        let Self { request, prepared } = self;
        if prepared.resume.state.is_some() && request.context.era() == Era::Stateless {
            return Err(invalid_state("this tool is never suspended"));
        }
        Ok(DirectCall {
            arguments: prepared.arguments,
            responder: ToolResponder {
                id: request.id,
                context: request.context,
                timeout: prepared.tool.shared.limits.timeout,
            },
        })
    }
}

/// The methods of a server with tools.
pub(crate) static TOOLS: Feature = Feature {
    methods: &[
        (method::TOOLS_CALL, Core::call_tool),
        (method::TOOLS_LIST, |core, request, _| {
            core.list_section(&request, &core.catalog().tools, &core.cache_hints.tools)
        }),
    ],
    register: |registrations, catalog| {
        catalog.tools = Arc::new(Section::new(std::mem::take(&mut registrations.tools))?);
        Ok(())
    },
};

impl Core {
    fn call_tool(
        self: Arc<Self>,
        mut request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let prepared = match self.prepare(&mut request) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(refused)) => {
                let reply = invalid_input(&request, &refused);
                return HandlerReply::Ready(reply.unwrap_or_else(Reply::Error)).into();
            }
            Err(error) => return HandlerReply::Ready(Reply::Error(error)).into(),
        };
        let tool = &prepared.tool.shared;
        let (handler, latency) = (Arc::clone(&tool.handler), Arc::clone(&tool.latency));
        Dispatched {
            reply: handler.dispatch(self, ToolCall { request, prepared }, open_channel),
            latency: Some(latency),
        }
    }

    /// Finds the tool and checks whether the call is allowed.
    fn prepare(&self, request: &mut Request) -> Result<Result<PreparedCall, Error>, ErrorObject> {
        let raw_params = request.params.take().unwrap_or(Bytes::from_static(b"{}"));
        let CallParams {
            name,
            arguments: raw,
            input_responses,
            request_state,
        } = CallParams::parse(&raw_params, &request.context)?;
        let catalog = self.catalog();
        let found = catalog.tools.get(&name);
        let tool = found.ok_or_else(|| errors::unknown_tool(&name))?;
        drop(name);
        check_scopes(&tool.shared.scopes, &request.permissions)?;
        check_capabilities(tool.shared.needs, &request.context)?;
        let own_budget;
        let budget = match &request.validation_budget {
            Some(shared) => &**shared,
            None => {
                own_budget = SharedBudget::default();
                &own_budget
            }
        };
        let checked = tool.shared.input_schema.check(raw, &raw_params, budget)?;
        let range = raw.map(|raw| {
            let start = raw.as_ptr().addr() - raw_params.as_ptr().addr();
            start..start + raw.len()
        });
        Ok(checked.map(|arguments| PreparedCall {
            tool: tool.clone(),
            arguments,
            params: raw_params,
            arguments_range: range,
            resume: ResumeInput {
                state: request_state,
                answers: input_responses.unwrap_or_default(),
            },
        }))
    }

    /// Starts a call of a tool that may ask.
    pub(crate) fn start_conversation(
        self: Arc<Self>,
        handler: Arc<dyn ConversationHandler>,
        call: ToolCall,
        open_channel: OpenChannel<'_>,
    ) -> HandlerReply {
        let channel = open_channel(&call.request);
        let ToolCall { request, prepared } = call;
        let conversation = ConversationRequest {
            name: prepared.tool.name().into(),
            arguments: prepared.arguments_range.map(|at| prepared.params.slice(at)),
            limits: prepared.tool.shared.limits,
            resume: prepared.resume,
        };
        let round_handler = ConversationCall {
            handler,
            arguments: Some(prepared.arguments),
            state: Arc::clone(&self.state),
        };
        let work = run_conversation(
            self,
            request,
            channel,
            conversation,
            round_handler,
            into_tool_result,
        );
        HandlerReply::Pending(Box::pin(work))
    }
}

/// A call of a tool that may ask.
struct ConversationCall {
    handler: Arc<dyn ConversationHandler>,
    arguments: Option<ToolArguments>,
    state: AnyState,
}

impl RoundHandler<CallToolResult> for ConversationCall {
    fn run(
        &mut self,
        invocation: Arc<Invocation>,
    ) -> BoxFuture<'static, crate::server::Result<CallToolResult>> {
        let context = ServerContext::new(invocation, Arc::clone(&self.state));
        match self.arguments.take() {
            Some(arguments) => self.handler.run(arguments, context),
            None => Box::pin(async { Err(Error::internal("the tool was already called")) }),
        }
    }

    fn cleanup(&mut self, before: &RawJson, invocation: &Arc<Invocation>) -> Option<Cleanup> {
        let context = ServerContext::new(Arc::clone(invocation), Arc::clone(&self.state));
        self.handler.cleanup(before, context)
    }
}

/// Converts the outcome of a tool into a reply, and has its time limit.
pub(crate) struct ToolResponder {
    id: RequestId,
    context: Box<RequestContext>,
    pub(crate) timeout: Option<Duration>,
}

impl ToolResponder {
    pub(crate) fn reply(&self, ended: crate::server::Result<CallToolResult>) -> Reply {
        match into_tool_result(ended, &self.context) {
            Ok(result) => encode_reply(&self.context, &self.id, result),
            Err(error) => Reply::Error(error),
        }
    }
}

/// Checks that the caller has the scopes, if callers have tokens.
pub(crate) fn check_scopes(
    scopes: &[Box<str>],
    permissions: &Permissions,
) -> Result<(), ErrorObject> {
    if permissions.allows(scopes) {
        return Ok(());
    }
    Err(auth::scope::insufficient_scope_error(scopes))
}

/// Checks that the client has declared the capabilities, in this request.
pub(crate) fn check_capabilities(
    needs: CapabilitySet,
    context: &RequestContext,
) -> Result<(), ErrorObject> {
    if needs.is_empty() {
        return Ok(());
    }
    let missing = needs.difference(CapabilitySet::declared_by(&context.client.capabilities));
    if missing.is_empty() {
        return Ok(());
    }
    let required = missing.as_capabilities();
    Err(errors::missing_capability(context.rules, required))
}

/// Returns the reply for invalid arguments: a tool result that lets the model
/// correct them, if the revision allows it.
fn invalid_input(request: &Request, error: &Error) -> Result<Reply, ErrorObject> {
    if request.context.rules.invalid_tool_input_is_result {
        return Ok(request.encode_reply(CallToolResult::failure(error.to_string())));
    }
    Err(ErrorObject::new(code::INVALID_PARAMS, error.to_string()))
}

/// Converts the outcome of a tool into the result for the client.
fn into_tool_result(
    ended: crate::server::Result<CallToolResult>,
    context: &RequestContext,
) -> Result<CallToolResult, ErrorObject> {
    let error = match ended {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::Protocol => Err(protocol_error(&error)),
        ErrorKind::MissingCapability { capability } if context.era() == Era::Stateless => {
            Err(capability_error(capability, context))
        }
        _ => Ok(CallToolResult::failure(error.model_message())),
    }
}

/// Converts the outcome of a handler that is not a tool. Models do not see
/// these, so an error is an error response.
pub(crate) fn into_result<R>(
    ended: crate::server::Result<R>,
    context: &RequestContext,
) -> Result<R, ErrorObject> {
    ended.map_err(|error| match error.kind() {
        ErrorKind::MissingCapability { capability } if context.era() == Era::Stateless => {
            capability_error(capability, context)
        }
        _ => protocol_error(&error),
    })
}

/// Returns the error response for an error. An error of another kind becomes an
/// internal error with the same message.
pub(crate) fn protocol_error(error: &Error) -> ErrorObject {
    match (error.kind(), error.object()) {
        (ErrorKind::Protocol, Some(object)) => object.clone(),
        _ => errors::internal_error(&error.to_string()),
    }
}

pub(crate) fn capability_error(capability: &str, context: &RequestContext) -> ErrorObject {
    let needs: CapabilitySet = ClientCapability::from_path(capability)
        .into_iter()
        .collect();
    errors::missing_capability(context.rules, needs.as_capabilities())
}
