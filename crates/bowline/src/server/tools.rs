//! Listing and calling tools.

use std::{borrow::Cow, ops::Range, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    auth::{self, grant::Granted},
    build::BuildError,
    catalog::{Catalog, Shelf},
    converse::{Cleanup, Handler, Task, converse},
    error::{Error, ErrorKind},
    list::{Listed, Shelved},
    needs::{Need, Needs},
    replay::{refusal::refused, round::Brought},
    request::{Handled, Request, Taken, Voices, answer},
    route::Part,
    schema::Allowance,
    service::{Core, Service},
    state::AnyState,
    talk::{ServerContext, call::Call},
    tool::{Arguments, Talk, Tool},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, RequestId, code, decode},
        model::{CacheScope, CallToolResult, InputResponses, ListToolsResult, method},
        revision::Era,
        server::{CacheHint, Kind, PlainCall, Reply, RequestContext, errors},
    },
    transport::BoxFuture,
};

impl Listed for Tool {
    type Page = ListToolsResult;

    const KIND: &'static str = "tool";
    const LIST: Kind = Kind::Tools;
    const CAPABILITY: &'static str = "tools";
    const METHOD: &'static str = method::TOOLS_LIST;

    fn name(&self) -> &str {
        self.name()
    }

    fn problem(&self) -> Option<&str> {
        self.shared.problem.as_deref()
    }

    fn needs(&self) -> Needs {
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
        (page.ttl_ms, page.cache_scope) = on_the_wire(hint);
        page
    }
}

impl Shelved for Tool {
    fn shelf(catalog: &mut Catalog) -> &mut Arc<Shelf<Self>> {
        &mut catalog.tools
    }
}

/// How long something may be kept, as pages and resources say it.
pub(super) fn on_the_wire(hint: &CacheHint) -> (Option<i64>, Option<CacheScope>) {
    let ttl = i64::try_from(hint.ttl.as_millis()).unwrap_or(i64::MAX);
    (Some(ttl), Some(hint.scope.clone()))
}

/// Changing which tools there are.
impl<S: Send + Sync + 'static> Service<S> {
    /// Offers one more tool, and tells clients so.
    ///
    /// # Errors
    ///
    /// Where there is one of that name, something is wrong with it, or the
    /// server was built to offer no tools.
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        self.add(tool.for_state::<()>())
    }

    /// Offers a tool no longer, and tells clients so. Says whether there was
    /// one. Calls under way go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove::<Tool>(name)
    }

    /// Tells clients that the list of tools is another, by what only the
    /// application knows.
    pub fn tools_changed(&self) {
        self.announce(Kind::Tools);
    }

    /// All tools, in their order, for tests and manifests.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool<S>> {
        let tools = self.core.catalog().tools.items().to_vec();
        tools.into_iter().map(Tool::for_state).collect()
    }
}

/// What a call says, without being copied.
#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    arguments: Option<&'a str>,
    #[serde(rename = "inputResponses", default)]
    input_responses: Option<InputResponses>,
    #[serde(rename = "requestState", default)]
    request_state: Option<String>,
}

impl<'a> CallParams<'a> {
    fn read(params: &'a [u8], context: &RequestContext) -> Result<Self, ErrorObject> {
        if let Some(PlainCall { name, arguments }) = context.plain_call(params) {
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

fn as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(deserializer)?;
    Ok(raw.map(RawValue::get))
}

/// A call whose tool is found, and whose arguments fit.
struct Prepared {
    tool: Tool,
    arguments: Arguments,
    /// The params, and where in them the arguments stand.
    came: Bytes,
    at: Option<Range<usize>>,
    brought: Brought,
}

/// The same, with what else is known of it.
pub(crate) struct ToolCall {
    request: Request,
    prepared: Prepared,
}

/// A call of a tool that asks nothing.
pub(crate) struct Alone {
    pub(crate) arguments: Arguments,
    pub(crate) end: End,
}

impl ToolCall {
    /// For a tool that asks nothing, and so puts nothing off.
    ///
    /// # Errors
    ///
    /// Where the call goes on with something that was put off.
    pub(crate) fn alone(self) -> Result<Alone, ErrorObject> {
        let Self { request, prepared } = self;
        if prepared.brought.state.is_some() && request.context.era() == Era::Stateless {
            return Err(refused("this tool puts nothing off"));
        }
        Ok(Alone {
            arguments: prepared.arguments,
            end: End {
                id: request.id,
                context: request.context,
                limit: prepared.tool.shared.limits.time,
            },
        })
    }
}

/// What a server with tools answers.
pub(super) static TOOLS: Part = Part {
    answers: &[
        (method::TOOLS_CALL, Core::call_tool),
        (method::TOOLS_LIST, |core, request, _| {
            core.list_shelf(&request, &core.catalog().tools, &core.hints.tools)
        }),
    ],
    shelve: |offer, catalog| {
        catalog.tools = Arc::new(Shelf::new(std::mem::take(&mut offer.tools))?);
        Ok(())
    },
};

impl Core {
    fn call_tool(self: Arc<Self>, mut request: Request, voice: Voices<'_>) -> Taken {
        let prepared = match self.prepare(&mut request) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(refused)) => {
                let reply = invalid_input(&request, &refused);
                return Handled::Now(reply.unwrap_or_else(Reply::Error)).into();
            }
            Err(error) => return Handled::Now(Reply::Error(error)).into(),
        };
        let tool = &prepared.tool.shared;
        let (run, pace) = (Arc::clone(&tool.run), Arc::clone(&tool.pace));
        Taken {
            handled: run.take(self, ToolCall { request, prepared }, voice),
            pace: Some(pace),
        }
    }

    /// Finds the tool, and looks whether the call may be made.
    fn prepare(&self, request: &mut Request) -> Result<Result<Prepared, Error>, ErrorObject> {
        let came = request.params.take().unwrap_or(Bytes::from_static(b"{}"));
        let CallParams {
            name,
            arguments: raw,
            input_responses,
            request_state,
        } = CallParams::read(&came, &request.context)?;
        let catalog = self.catalog();
        let found = catalog.tools.get(&name);
        let tool = found.ok_or_else(|| errors::unknown_tool(&name))?;
        drop(name);
        check_scopes(&tool.shared.scopes, &request.granted)?;
        check_needs(tool.shared.needs, &request.context)?;
        let alone;
        let allowance = match &request.allowance {
            Some(shared) => &**shared,
            None => {
                alone = Allowance::default();
                &alone
            }
        };
        let checked = tool.shared.input.check(raw, &came, allowance)?;
        let at = raw.map(|raw| {
            let start = raw.as_ptr().addr() - came.as_ptr().addr();
            start..start + raw.len()
        });
        Ok(checked.map(|arguments| Prepared {
            tool: tool.clone(),
            arguments,
            came,
            at,
            brought: Brought {
                state: request_state,
                answers: input_responses.unwrap_or_default(),
            },
        }))
    }

    /// Takes in a call of a tool that may ask.
    pub(crate) fn talk(
        self: Arc<Self>,
        talk: Arc<dyn Talk>,
        call: ToolCall,
        voice: Voices<'_>,
    ) -> Handled {
        let voice = voice(&call.request);
        let ToolCall { request, prepared } = call;
        let task = Task {
            name: prepared.tool.name().into(),
            arguments: prepared.at.map(|at| prepared.came.slice(at)),
            limits: prepared.tool.shared.limits,
            brought: prepared.brought,
        };
        let talking = Talking {
            talk,
            arguments: Some(prepared.arguments),
            state: Arc::clone(&self.state),
        };
        let work = converse(self, request, voice, task, talking, settle);
        Handled::Later(Box::pin(work))
    }
}

/// A call of a tool that may ask.
struct Talking {
    talk: Arc<dyn Talk>,
    arguments: Option<Arguments>,
    state: AnyState,
}

impl Handler<CallToolResult> for Talking {
    fn run(&mut self, call: Arc<Call>) -> BoxFuture<'static, super::Result<CallToolResult>> {
        let context = ServerContext::new(call, Arc::clone(&self.state));
        match self.arguments.take() {
            Some(arguments) => self.talk.talk(arguments, context),
            None => Box::pin(async { Err(Error::internal("the tool was called already")) }),
        }
    }

    fn cleanup(&mut self, before: &RawJson, call: &Arc<Call>) -> Option<Cleanup> {
        let context = ServerContext::new(Arc::clone(call), Arc::clone(&self.state));
        self.talk.cleanup(before, context)
    }
}

/// What a tool's end becomes, and when it comes at the latest.
pub(crate) struct End {
    id: RequestId,
    context: Box<RequestContext>,
    pub(crate) limit: Option<Duration>,
}

impl End {
    pub(crate) fn reply(&self, ended: super::Result<CallToolResult>) -> Reply {
        match settle(ended, &self.context) {
            Ok(result) => answer(&self.context, &self.id, result),
            Err(error) => Reply::Error(error),
        }
    }
}

/// The caller must be allowed to, where callers are asked.
pub(super) fn check_scopes(scopes: &[Box<str>], granted: &Granted) -> Result<(), ErrorObject> {
    if granted.allows(scopes) {
        return Ok(());
    }
    Err(auth::scope::insufficient(scopes))
}

/// The client must be able to do what is needed, and say so in this request.
pub(super) fn check_needs(needs: Needs, context: &RequestContext) -> Result<(), ErrorObject> {
    if needs.is_empty() {
        return Ok(());
    }
    let missing = needs.without(Needs::met_by(&context.client.capabilities));
    if missing.is_empty() {
        return Ok(());
    }
    let required = missing.as_capabilities();
    Err(errors::missing_capability(context.rules, required))
}

/// Arguments that do not fit: something that the model can mend, where the
/// revision lets it know.
fn invalid_input(request: &Request, error: &Error) -> Result<Reply, ErrorObject> {
    if request.context.rules.invalid_tool_input_is_result {
        return Ok(request.answer(CallToolResult::failure(error.to_string())));
    }
    Err(ErrorObject::new(code::INVALID_PARAMS, error.to_string()))
}

/// What the client is told of how a tool ended.
fn settle(
    ended: super::Result<CallToolResult>,
    context: &RequestContext,
) -> Result<CallToolResult, ErrorObject> {
    let error = match ended {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::Protocol => Err(protocol_error(&error)),
        ErrorKind::Capability { capability } if context.era() == Era::Stateless => {
            Err(capability_error(capability, context))
        }
        _ => Ok(CallToolResult::failure(error.for_model())),
    }
}

/// What the client is told of how something ended that is no tool: models do
/// not see these, so that an error is an error response.
pub(super) fn settle_or_refuse<R>(
    ended: super::Result<R>,
    context: &RequestContext,
) -> Result<R, ErrorObject> {
    ended.map_err(|error| match error.kind() {
        ErrorKind::Capability { capability } if context.era() == Era::Stateless => {
            capability_error(capability, context)
        }
        _ => protocol_error(&error),
    })
}

/// The error response that an error asks to become; what is none of that kind
/// becomes an internal error with the same words.
pub(super) fn protocol_error(error: &Error) -> ErrorObject {
    match (error.kind(), error.object()) {
        (ErrorKind::Protocol, Some(object)) => object.clone(),
        _ => errors::internal(&error.to_string()),
    }
}

pub(super) fn capability_error(capability: &str, context: &RequestContext) -> ErrorObject {
    let needs: Needs = Need::by_capability(capability).into_iter().collect();
    errors::missing_capability(context.rules, needs.as_capabilities())
}
