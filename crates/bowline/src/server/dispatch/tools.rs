//! Listing and calling tools.

use std::{borrow::Cow, sync::Arc};

use bowline_schema::Budget;
use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    catalog::{Catalog, Section},
    list::{CatalogItem, ListItem},
    request::{Dispatched, HandlerReply, OpenChannel, Request},
    router::Feature,
    tool_call::{CallArguments, ValidatedCall},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code, decode, range_of},
        model::{CacheScope, CallToolResult, InputResponses, ListToolsResult, method},
        revision::Era,
        server::{
            CacheHint, ListKind, ParsedCall, Reply, RequestContext, RequestParams, check_no_task,
            errors,
        },
    },
    server::{
        auth::{self, permissions::Permissions},
        builder::BuildError,
        capability::{CapabilitySet, ClientCapability},
        error::{Error, ErrorKind},
        replay::round::ResumeInput,
        service::{Core, Service},
        tool::Tool,
    },
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
    /// Returns an error if the name is in use, the tool is invalid, the server was
    /// built without tools, or calls of this tool may become tasks and it was built
    /// without a tool of that kind.
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        let is_served = self.core.router.has_method(method::TASKS_GET);
        if tool.shared.task_feature.is_some() && !is_served {
            let why = "the server did not declare `tasks` when it was built";
            return Err(BuildError::new("tool", tool.name(), why));
        }
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
    fn parse(params: &'a RequestParams) -> Result<Self, ErrorObject> {
        if let Some(ParsedCall { name, arguments }) = params.parse_call() {
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

/// The methods of a server with tools.
pub(crate) static TOOLS: Feature = Feature {
    methods: &[
        (method::TOOLS_CALL, Core::call_tool),
        (method::TOOLS_LIST, |core, request, _| {
            core.list_section(&request, &core.catalog().tools, &core.cache_hints.tools)
        }),
    ],
    start: None,
    shut_down: None,
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
        let (tool, arguments) = match self.prepare(&mut request) {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(refused)) => {
                let reply = invalid_input(&request, &refused);
                return HandlerReply::Ready(reply.unwrap_or_else(Reply::Error)).into();
            }
            Err(error) => return HandlerReply::Ready(Reply::Error(error)).into(),
        };
        let latency = Arc::clone(&tool.shared.latency);
        let handler = Arc::clone(&tool.shared.handler);
        let call = ValidatedCall {
            request,
            tool,
            arguments,
        };
        Dispatched {
            reply: handler.start(self, call, open_channel),
            latency: Some(latency),
        }
    }

    /// Finds the tool and checks whether the call is allowed.
    fn prepare(
        &self,
        request: &mut Request,
    ) -> Result<Result<(Tool, CallArguments), Error>, ErrorObject> {
        let params = request.params.take();
        let params = params.unwrap_or_else(|| Bytes::from_static(b"{}").into());
        let CallParams {
            name,
            arguments: raw,
            input_responses,
            request_state,
        } = CallParams::parse(&params)?;
        let catalog = self.catalog();
        let found = catalog.tools.get(&name);
        let tool = found.ok_or_else(|| errors::unknown_tool(&name))?;
        drop(name);
        if tool.shared.task_feature.is_none() {
            check_no_task(request.context.rules, &self.config.capabilities, &params)?;
        }
        check_scopes(&tool.shared.scopes, &request.permissions)?;
        check_capabilities(tool.shared.needs, &request.context)?;
        let own_budget;
        let budget = match &request.validation_budget {
            Some(shared) => &**shared,
            None => {
                own_budget = Budget::default();
                &own_budget
            }
        };
        let checked = tool
            .shared
            .input_schema
            .check(raw, params.as_bytes(), budget)?;
        let range = raw.and_then(|raw| range_of(raw.as_bytes(), &params));
        let resume = ResumeInput {
            state: request_state,
            answers: input_responses.unwrap_or_default(),
        };
        Ok(checked.map(|checked| {
            let arguments = CallArguments {
                checked,
                params: params.into_bytes(),
                range,
                resume,
            };
            (tool.clone(), arguments)
        }))
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

/// What the client is told of how a tool ended.
pub(crate) fn into_tool_result(
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
    match (error.kind(), error.error_object()) {
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
