//! Getting things from the server, with what it says about keeping them.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    client::{
        Call, Client, Error, call,
        list::{self, Paged},
    },
    proto::{
        client::{CallOptions, OnInput, Request},
        jsonrpc::RawJson,
        model::{
            CacheScope, CallToolParams, CallToolResult, InputRequiredResult, ListPromptsParams,
            ListPromptsResult, ListResourceTemplatesParams, ListResourceTemplatesResult,
            ListResourcesParams, ListResourcesResult, ListToolsParams, ListToolsResult,
            ReadResourceParams, ReadResourceResult, ResultObject, ResultType, method,
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
    let mut hints: Option<Hints> = None;
    let mut keep = true;
    let listed = list::follow::<P>(&client, options.into(), |page| {
        keep &= is_complete(page);
        let said = P::hints(page);
        hints = Some(match &hints {
            Some(before) => before.and(&said),
            None => said,
        });
    });
    let listed = listed.await?;
    Ok(Fetched {
        value: listed.items,
        bytes: listed.bytes,
        hints: hints.unwrap_or_default(),
        keep,
    })
}

/// A request for a page of a list that may be kept.
pub(super) trait Listed: Paged + 'static {
    const WHAT: What;

    /// What the server says about keeping a page.
    fn hints(page: &Self::Result) -> Hints;
}

macro_rules! listed {
    ($params:ident => $result:ident as $what:expr) => {
        impl Listed for $params {
            const WHAT: What = $what;

            fn hints(page: &$result) -> Hints {
                Hints {
                    ttl_ms: page.ttl_ms,
                    scope: page.cache_scope.clone(),
                }
            }
        }
    };
}

listed!(ListToolsParams => ListToolsResult as What::Tools);
listed!(ListPromptsParams => ListPromptsResult as What::Prompts);
listed!(ListResourcesParams => ListResourcesResult as What::Resources);
listed!(ListResourceTemplatesParams => ListResourceTemplatesResult as What::Templates);

/// The result as it came, whose size is known.
async fn result<R: ResultObject>(operation: &str, call: Call<'_, R>) -> Result<Bytes, Error> {
    let shared = Arc::clone(call.client().shared());
    call::result(&shared, operation, call.outcome().await?)
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
