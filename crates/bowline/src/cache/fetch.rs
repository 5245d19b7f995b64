//! Fetching items from the server, with its caching hints.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    client::{
        Call, Client, Error, call,
        list::{self, Paged},
    },
    proto::{
        client::{CallOptions, InputHandling, Request},
        jsonrpc::RawJson,
        model::{
            CacheScope, CallToolParams, CallToolResult, InputRequiredResult, ListPromptsParams,
            ListPromptsResult, ListResourceTemplatesParams, ListResourceTemplatesResult,
            ListResourcesParams, ListResourcesResult, ListToolsParams, ListToolsResult,
            ReadResourceParams, ReadResourceResult, ResultObject, ResultType, method,
        },
    },
};

use super::key::CachedItem;

/// An item fetched from the server.
pub(super) struct Fetched<T> {
    pub(super) value: T,
    /// The size on the wire.
    pub(super) bytes: usize,
    pub(super) hints: Hints,
    /// Whether the item may be cached at all.
    pub(super) is_cacheable: bool,
}

/// The server's caching hints for an item.
#[derive(Debug, Default)]
pub(super) struct Hints {
    pub(super) ttl_ms: Option<i64>,
    pub(super) scope: Option<CacheScope>,
}

impl Hints {
    /// Returns whether the item may be shared with every principal. Items not marked as
    /// public are private.
    pub(super) fn is_public(&self) -> bool {
        self.scope == Some(CacheScope::Public)
    }

    /// Combines the hints of two pages: the stricter of each.
    fn and(&self, next: &Self) -> Self {
        let scope = match self.is_public() && next.is_public() {
            true => Some(CacheScope::Public),
            false => Some(CacheScope::Private),
        };
        let page_hints = [self.ttl_ms, next.ttl_ms];
        let page_hints = page_hints.into_iter().flatten().filter(|ttl| *ttl >= 0);
        Self {
            ttl_ms: page_hints.min(),
            scope,
        }
    }
}

/// Reads a resource.
///
/// A result that required input belongs to its conversation and is not cached. So the
/// first request takes part in no conversation; a second one does, only if the server
/// asks for input.
pub(super) async fn contents(
    client: Client,
    options: CallOptions,
    uri: &str,
) -> Result<Fetched<ReadResourceResult>, Error> {
    let params = ReadResourceParams::new(uri);
    let call = client
        .request(params.clone())
        .options(without_input(&options));
    let json = result(method::RESOURCES_READ, call).await?;
    let Some(value): Option<ReadResourceResult> =
        decode_unless_input_required(method::RESOURCES_READ, &json)?
    else {
        let value = client.request(params).options(options).await?;
        return Ok(uncacheable(value));
    };
    let hints = Hints {
        ttl_ms: value.ttl_ms,
        scope: value.cache_scope.clone(),
    };
    Ok(Fetched {
        is_cacheable: is_complete(&value),
        bytes: json.len(),
        value,
        hints,
    })
}

/// Calls a tool. Failures are not cached; nor are, as for [resources](contents),
/// results that required a conversation.
pub(super) async fn tool_result(
    client: Client,
    options: CallOptions,
    tool: &str,
    arguments: RawJson,
) -> Result<Fetched<CallToolResult>, Error> {
    let mut params = CallToolParams::new(tool);
    params.arguments = Some(arguments.clone());
    let request = Request::new(params);
    let call = Call::<CallToolResult>::new(&client, method::TOOLS_CALL, request);
    let json = result(method::TOOLS_CALL, call.options(without_input(&options))).await?;
    let Some(value): Option<CallToolResult> =
        decode_unless_input_required(method::TOOLS_CALL, &json)?
    else {
        let call = client.tools().call(tool, arguments);
        return Ok(uncacheable(call.options(options).await?));
    };
    Ok(Fetched {
        is_cacheable: is_complete(&value) && !value.is_error(),
        bytes: json.len(),
        value,
        hints: Hints::default(),
    })
}

/// Fetches a whole list, cached for as long as all its pages may be.
pub(super) async fn list<P: CacheableList>(
    client: Client,
    options: CallOptions,
) -> Result<Fetched<Vec<P::Item>>, Error> {
    let mut hints: Option<Hints> = None;
    let mut cacheable = true;
    let full_list = list::fetch_all::<P>(&client, options.into(), |page| {
        cacheable &= is_complete(page);
        let page_hints = P::hints(page);
        hints = Some(match &hints {
            Some(before) => before.and(&page_hints),
            None => page_hints,
        });
    });
    let full_list = full_list.await?;
    Ok(Fetched {
        value: full_list.items,
        bytes: full_list.bytes,
        hints: hints.unwrap_or_default(),
        is_cacheable: cacheable,
    })
}

/// A request for a page of a list that may be cached.
pub(super) trait CacheableList: Paged + 'static {
    const ITEM: CachedItem;

    /// Returns the caching hints of a page.
    fn hints(page: &Self::Result) -> Hints;
}

macro_rules! cacheable_list {
    ($params:ident => $result:ident as $item:expr) => {
        impl CacheableList for $params {
            const ITEM: CachedItem = $item;

            fn hints(page: &$result) -> Hints {
                Hints {
                    ttl_ms: page.ttl_ms,
                    scope: page.cache_scope.clone(),
                }
            }
        }
    };
}

cacheable_list!(ListToolsParams => ListToolsResult as CachedItem::Tools);
cacheable_list!(ListPromptsParams => ListPromptsResult as CachedItem::Prompts);
cacheable_list!(ListResourcesParams => ListResourcesResult as CachedItem::Resources);
cacheable_list!(ListResourceTemplatesParams => ListResourceTemplatesResult as CachedItem::Templates);

/// Returns the undecoded result, whose size is known.
async fn result<R: ResultObject>(operation: &str, call: Call<'_, R>) -> Result<Bytes, Error> {
    let shared = Arc::clone(call.client().shared());
    call::outcome_bytes(&shared, operation, call.outcome().await?)
}

/// Returns the same options for a call that must not ask for input.
fn without_input(options: &CallOptions) -> CallOptions {
    CallOptions {
        input_handling: InputHandling::ReturnToCaller,
        ..options.clone()
    }
}

/// Decodes the response; `None` if the server asks for input instead.
fn decode_unless_input_required<R: ResultObject>(
    operation: &str,
    json: &[u8],
) -> Result<Option<R>, Error> {
    let is_input_required = |kind: Option<&ResultType>| kind == Some(&ResultType::InputRequired);
    match R::decode(json) {
        Ok(result) => Ok(Some(result).filter(|result| !is_input_required(result.result_type()))),
        Err(error) => match InputRequiredResult::decode(json) {
            Ok(question) if is_input_required(question.result_type()) => Ok(None),
            _ => Err(Error::decode(operation, error)),
        },
    }
}

fn is_complete<R: ResultObject>(result: &R) -> bool {
    matches!(result.result_type(), None | Some(ResultType::Complete))
}

/// Wraps a value that must not be cached.
fn uncacheable<T>(value: T) -> Fetched<T> {
    Fetched {
        value,
        bytes: 0,
        hints: Hints::default(),
        is_cacheable: false,
    }
}
