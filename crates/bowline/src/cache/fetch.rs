//! Getting things from the server, with what it says about keeping them.

use std::collections::HashSet;

use bytes::Bytes;

use crate::{
    client::{Call, Client, Error},
    proto::{
        client::{CallOptions, OnInput, Outcome, Request},
        jsonrpc::RawJson,
        model::{
            self, CacheScope, CallToolParams, CallToolResult, InputRequiredResult,
            ListPromptsParams, ListPromptsResult, ListResourceTemplatesParams,
            ListResourceTemplatesResult, ListResourcesParams, ListResourcesResult, ListToolsParams,
            ListToolsResult, Prompt, ReadResourceParams, ReadResourceResult, Resource,
            ResourceTemplate, ResultObject, ResultType, Tool, method,
        },
    },
};

use super::key::What;

/// Something from the server.
pub(super) struct Fetched<T> {
    pub(super) value: T,
    /// Its size on the wire.
    pub(super) bytes: usize,
    pub(super) hints: Hints,
    /// Whether it may be kept at all.
    pub(super) keep: bool,
}

/// What the server says about keeping something.
#[derive(Debug, Default)]
pub(super) struct Hints {
    pub(super) ttl_ms: Option<i64>,
    pub(super) scope: Option<CacheScope>,
}

impl Hints {
    /// Whether everyone may have it. What the server does not call public is
    /// private.
    pub(super) fn is_public(&self) -> bool {
        self.scope == Some(CacheScope::Public)
    }

    /// The hints for two pages together: the stricter of each.
    fn and(&self, next: &Self) -> Self {
        let scope = match self.is_public() && next.is_public() {
            true => Some(CacheScope::Public),
            false => Some(CacheScope::Private),
        };
        let said = [self.ttl_ms, next.ttl_ms];
        let said = said.into_iter().flatten().filter(|ttl| *ttl >= 0);
        Self {
            ttl_ms: said.min(),
            scope,
        }
    }
}

/// Reads a resource.
///
/// What the server answers only after it has asked for input belongs to that
/// conversation and is not kept. So the first request does not take part in
/// one; only if it would have to, a second does.
pub(super) async fn contents(
    client: Client,
    options: CallOptions,
    uri: &str,
) -> Result<Fetched<ReadResourceResult>, Error> {
    let params = ReadResourceParams::new(uri);
    let call = client.request(params.clone()).options(aside(&options));
    let json = result(method::RESOURCES_READ, call).await?;
    let Some(value): Option<ReadResourceResult> = answer(method::RESOURCES_READ, &json)? else {
        let value = client.request(params).options(options).await?;
        return Ok(passing(value));
    };
    let hints = Hints {
        ttl_ms: value.ttl_ms,
        scope: value.cache_scope.clone(),
    };
    Ok(Fetched {
        keep: is_complete(&value),
        bytes: json.len(),
        value,
        hints,
    })
}

/// Calls a tool. That it failed is not kept; nor is, as for
/// [resources](contents), what took a conversation.
pub(super) async fn tool_result(
    client: Client,
    options: CallOptions,
    tool: &str,
    arguments: RawJson,
) -> Result<Fetched<CallToolResult>, Error> {
    let mut params = CallToolParams::new(tool);
    params.arguments = Some(arguments.clone());
    let request = Request::new(params).map(|request| request.for_tool(tool));
    let call = Call::<CallToolResult>::new(&client, method::TOOLS_CALL, request);
    let json = result(method::TOOLS_CALL, call.options(aside(&options))).await?;
    let Some(value): Option<CallToolResult> = answer(method::TOOLS_CALL, &json)? else {
        let call = client.tools().call(tool, arguments);
        return Ok(passing(call.with(|call| call.options(options)).await?));
    };
    Ok(Fetched {
        keep: is_complete(&value) && !value.failed(),
        bytes: json.len(),
        value,
        hints: Hints::default(),
    })
}

/// A whole list, page after page, kept for as long as all its pages may be.
pub(super) async fn list<P: Listed>(
    client: Client,
    options: CallOptions,
) -> Result<Fetched<Vec<P::Item>>, Error> {
    let mut list = Fetched {
        value: Vec::new(),
        bytes: 0,
        hints: Hints::default(),
        keep: true,
    };
    let mut cursor = None;
    let mut seen = HashSet::new();
    loop {
        let first = seen.is_empty() && cursor.is_none();
        let call = client.request(P::page(cursor)).options(options.clone());
        let json = result(P::METHOD, call).await?;
        let page = P::Result::decode(&json);
        let page = page.map_err(|error| Error::undecodable(P::METHOD, error))?;
        list.bytes += json.len();
        list.keep &= is_complete(&page);
        let (next, hints) = P::take(page, &mut list.value);
        list.hints = match first {
            true => hints,
            false => list.hints.and(&hints),
        };
        match next {
            Some(next) if !seen.insert(next.clone()) => return Err(Error::cursor_loop(P::METHOD)),
            Some(next) => cursor = Some(next),
            None => return Ok(list),
        }
    }
}

/// A request for a page of a list that may be kept.
pub(super) trait Listed: model::Request + Send + Sync + 'static {
    type Item: Send + Sync + 'static;
    const WHAT: What;

    fn page(cursor: Option<String>) -> Self;

    /// Takes the items of a page; gives the cursor of the next.
    fn take(page: Self::Result, items: &mut Vec<Self::Item>) -> (Option<String>, Hints);
}

macro_rules! listed {
    ($params:ident => $result:ident, $field:ident: $item:ident as $what:expr) => {
        impl Listed for $params {
            type Item = $item;
            const WHAT: What = $what;

            fn page(cursor: Option<String>) -> Self {
                let mut params = Self::default();
                params.cursor = cursor;
                params
            }

            fn take(page: $result, items: &mut Vec<$item>) -> (Option<String>, Hints) {
                items.extend(page.$field);
                let hints = Hints {
                    ttl_ms: page.ttl_ms,
                    scope: page.cache_scope,
                };
                (page.next_cursor, hints)
            }
        }
    };
}

listed!(ListToolsParams => ListToolsResult, tools: Tool as What::Tools);
listed!(ListPromptsParams => ListPromptsResult, prompts: Prompt as What::Prompts);
listed!(ListResourcesParams => ListResourcesResult, resources: Resource as What::Resources);
listed!(ListResourceTemplatesParams => ListResourceTemplatesResult,
    resource_templates: ResourceTemplate as What::Templates);

/// The result as it came, whose size is known.
async fn result<R: ResultObject>(operation: &str, call: Call<'_, R>) -> Result<Bytes, Error> {
    match call.outcome().await? {
        Outcome::Result(json) => Ok(json),
        Outcome::Refused(error) => Err(Error::refused(operation, error)),
        Outcome::Failed(failure) => Err(Error::failed(operation, failure)),
    }
}

/// The same options for a call that is not to ask anybody anything.
fn aside(options: &CallOptions) -> CallOptions {
    CallOptions {
        on_input: OnInput::HandBack,
        ..options.clone()
    }
}

/// The answer; `None` where the server asks for input instead.
fn answer<R: ResultObject>(operation: &str, json: &[u8]) -> Result<Option<R>, Error> {
    let asks = |kind: Option<&ResultType>| kind == Some(&ResultType::InputRequired);
    match R::decode(json) {
        Ok(result) => Ok(Some(result).filter(|result| !asks(result.result_type()))),
        Err(error) => match InputRequiredResult::decode(json) {
            Ok(question) if asks(question.result_type()) => Ok(None),
            _ => Err(Error::undecodable(operation, error)),
        },
    }
}

fn is_complete<R: ResultObject>(result: &R) -> bool {
    matches!(result.result_type(), None | Some(ResultType::Complete))
}

/// Something that must not be kept.
fn passing<T>(value: T) -> Fetched<T> {
    Fetched {
        value,
        bytes: 0,
        hints: Hints::default(),
        keep: false,
    }
}
