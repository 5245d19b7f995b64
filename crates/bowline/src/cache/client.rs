//! The client that remembers.

use std::{any::Any, fmt, future::Future, sync::Arc, time::Duration};

use serde::Serialize;
use tokio::time::Instant;

use super::{
    CacheStats, Lookup, Shared,
    fetch::{self, CacheableList, Fetched},
    in_flight::{self, FetchKey},
    key::{CachedItem, Invalidation, Principal, SourceId},
    store::Value,
};
use crate::{
    canonical::canonicalize,
    client::{Client, Error, wait},
    proto::{
        client::{CallOptions, Failure},
        jsonrpc::RawJson,
        model::{
            CallToolResult, ListPromptsParams, ListResourceTemplatesParams, ListResourcesParams,
            ListToolsParams, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool, method,
        },
    },
};

/// A [`Client`] with a [`Cache`](super::Cache).
///
/// Cheap to clone. What it gives is shared, not copied; errors too, for one may
/// be the answer to several who asked at once.
///
/// Giving up waiting (dropping the future) does not disturb others who wait
/// for the same; when the last gives up, so is the request.
#[derive(Clone)]
pub struct CachedClient {
    handle: Arc<CacheHandle>,
    principal: Principal,
    options: CallOptions,
    connect_timeout: Option<Duration>,
}

/// One connection's part of the memory.
struct CacheHandle {
    client: Client,
    shared: Arc<Shared>,
    source: SourceId,
}

impl Drop for CacheHandle {
    fn drop(&mut self) {
        self.shared.lock().remove(self.source);
    }
}

impl CachedClient {
    pub(super) fn new(client: Client, shared: Arc<Shared>, source: SourceId) -> Self {
        Self {
            handle: Arc::new(CacheHandle {
                client,
                shared,
                source,
            }),
            principal: None,
            options: CallOptions::default(),
            connect_timeout: None,
        }
    }

    /// The connection itself, past the memory.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.handle.client
    }

    /// The same client on behalf of somebody. What the server does not call
    /// public is given only to those on whose behalf it was asked for.
    #[must_use]
    pub fn for_principal(&self, principal: &str) -> Self {
        Self {
            principal: Some(principal.into()),
            ..self.clone()
        }
    }

    /// The same client, whose requests are made in this way. Those who wait
    /// for one answer wait for a request made in the way of the first.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> Self {
        Self {
            options,
            ..self.clone()
        }
    }

    /// The same client, which waits for the connection if it is down when
    /// something has to be asked: for an attempt that is under way, or for the
    /// next if it is due within `patience`. Otherwise such a request fails at
    /// once. What is remembered is there in any case.
    #[must_use]
    pub fn wait_for_connection(&self, timeout: Duration) -> Self {
        Self {
            connect_timeout: Some(timeout),
            ..self.clone()
        }
    }

    /// All tools.
    ///
    /// # Errors
    ///
    /// Where they are not remembered and cannot be had.
    pub async fn tools(&self) -> Result<Arc<Vec<Tool>>, Arc<Error>> {
        self.list::<ListToolsParams>().await
    }

    /// All prompts.
    ///
    /// # Errors
    ///
    /// Where they are not remembered and cannot be had.
    pub async fn prompts(&self) -> Result<Arc<Vec<Prompt>>, Arc<Error>> {
        self.list::<ListPromptsParams>().await
    }

    /// All resources.
    ///
    /// # Errors
    ///
    /// Where they are not remembered and cannot be had.
    pub async fn resources(&self) -> Result<Arc<Vec<Resource>>, Arc<Error>> {
        self.list::<ListResourcesParams>().await
    }

    /// All templates of resources.
    ///
    /// # Errors
    ///
    /// Where they are not remembered and cannot be had.
    pub async fn templates(&self) -> Result<Arc<Vec<ResourceTemplate>>, Arc<Error>> {
        self.list::<ListResourceTemplatesParams>().await
    }

    /// The contents of a resource.
    ///
    /// # Errors
    ///
    /// Where they are not remembered and cannot be had.
    pub async fn read(&self, uri: &str) -> Result<Arc<ReadResourceResult>, Arc<Error>> {
        let uri: Arc<str> = uri.into();
        let item = CachedItem::Contents(Arc::clone(&uri));
        let (client, options) = self.request_parts();
        let fetch = async move { fetch::contents(client, options, &uri).await };
        self.get(method::RESOURCES_READ, item, fetch).await
    }

    /// Calls a tool, unless what it returned for the same arguments is
    /// remembered, which it is only where the cache was
    /// [told to](super::CacheConfig::tool_ttl).
    ///
    /// # Errors
    ///
    /// Where the result is not remembered and cannot be had. That the tool
    /// itself failed is part of the result, which is then not remembered.
    pub async fn call<A: Serialize>(
        &self,
        tool: &str,
        arguments: A,
    ) -> Result<Arc<CallToolResult>, Arc<Error>> {
        if !self.handle.shared.config.caches_tool_results() {
            let result = self.call_uncached(tool, arguments).await;
            return result.map(Arc::new).map_err(Arc::new);
        }
        let (arguments, canonical) = encode(&arguments)?;
        let tool: Arc<str> = tool.into();
        let item = CachedItem::ToolResult {
            tool: Arc::clone(&tool),
            arguments: canonical,
        };
        let (client, options) = self.request_parts();
        let fetch = async move { fetch::tool_result(client, options, &tool, arguments).await };
        self.get(method::TOOLS_CALL, item, fetch).await
    }

    /// Calls a tool that changes what is remembered, such as one that syncs a
    /// repository, and forgets everything when the call ends, however it does.
    ///
    /// # Errors
    ///
    /// As for any call.
    pub async fn call_and_invalidate<A: Serialize>(
        &self,
        tool: &str,
        arguments: A,
    ) -> Result<CallToolResult, Error> {
        let _guard = InvalidateOnDrop(self);
        self.call_uncached(tool, arguments).await
    }

    /// Forgets the contents of one resource.
    pub fn invalidate(&self, uri: &str) {
        self.invalidate_matching(&Invalidation::Contents(uri.into()));
    }

    /// Forgets all lists.
    pub fn invalidate_lists(&self) {
        self.invalidate_matching(&Invalidation::Lists);
    }

    /// Forgets everything of this connection's.
    pub fn invalidate_all(&self) {
        self.invalidate_matching(&Invalidation::Everything);
    }

    /// What the memory has done for this connection so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        let state = self.handle.shared.lock();
        let source = state.sources.get(&self.handle.source);
        source.map(|source| source.stats).unwrap_or_default()
    }

    /// How many resources of this connection's are remembered.
    #[must_use]
    pub fn cached_resources(&self) -> usize {
        let mut state = self.handle.shared.lock();
        state.apply_notifications(self.handle.source);
        state.store.resources(self.handle.source, Instant::now())
    }

    async fn list<P: CacheableList>(&self) -> Result<Arc<Vec<P::Item>>, Arc<Error>> {
        let (client, options) = self.request_parts();
        let fetch = fetch::list::<P>(client, options);
        self.get(P::METHOD, P::ITEM, fetch).await
    }

    async fn get<T: Any + Send + Sync>(
        &self,
        operation: &'static str,
        item: CachedItem,
        fetch: impl Future<Output = Result<Fetched<T>, Error>> + Send + 'static,
    ) -> Result<Arc<T>, Arc<Error>> {
        let fetch_key = FetchKey {
            source: self.handle.source,
            principal: self.principal.clone(),
            item,
        };
        // The lock is let go before anybody waits.
        let lookup = self.handle.shared.lock().look_up(&fetch_key);
        let receiver = match lookup {
            Lookup::Cached(value) => return typed(operation, value),
            Lookup::InFlight(receiver) => receiver,
            Lookup::Miss(sender, receiver) => {
                let (client, timeout) = (self.handle.client.clone(), self.connect_timeout);
                let fetch = async move {
                    wait_connected(&client, timeout).await?;
                    fetch.await
                };
                in_flight::spawn_fetch(Arc::clone(&self.handle.shared), fetch_key, sender, fetch);
                receiver
            }
        };
        match in_flight::wait_for_fetch(receiver).await {
            Some(outcome) => typed(operation, outcome?),
            None => Err(fetch_lost(operation)),
        }
    }

    /// Calls a tool, past the memory.
    async fn call_uncached<A: Serialize>(
        &self,
        tool: &str,
        arguments: A,
    ) -> Result<CallToolResult, Error> {
        let (client, options) = self.request_parts();
        let call = client.tools().call(tool, arguments);
        wait_connected(&client, self.connect_timeout).await?;
        call.map_call(|call| call.options(options)).await
    }

    fn request_parts(&self) -> (Client, CallOptions) {
        (self.handle.client.clone(), self.options.clone())
    }

    fn invalidate_matching(&self, invalidation: &Invalidation) {
        self.handle
            .shared
            .lock()
            .invalidate(self.handle.source, invalidation);
    }
}

impl fmt::Debug for CachedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedClient")
            .field("client", &self.handle.client)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Forgets everything at the end of a call, even of one that is given up: it
/// may have had its effect.
struct InvalidateOnDrop<'a>(&'a CachedClient);

impl Drop for InvalidateOnDrop<'_> {
    fn drop(&mut self) {
        self.0.invalidate_all();
    }
}

async fn wait_connected(client: &Client, timeout: Option<Duration>) -> Result<(), Error> {
    match timeout {
        Some(timeout) => wait::wait_connected(client, timeout).await,
        None => Ok(()),
    }
}

/// The arguments for the wire, and in canonical form.
fn encode<A: Serialize>(arguments: &A) -> Result<(RawJson, Arc<str>), Arc<Error>> {
    let encode_error = |error: serde_json::Error| Error::encode(method::TOOLS_CALL, error.into());
    let arguments = RawJson::encode(arguments).map_err(encode_error)?;
    let canonical = canonicalize(arguments.get().as_bytes());
    let canonical = String::from_utf8_lossy(&canonical).into();
    Ok((arguments, canonical))
}

fn typed<T: Any + Send + Sync>(operation: &str, value: Value) -> Result<Arc<T>, Arc<Error>> {
    // The key says which type it is, so that it is this one.
    value.downcast().map_err(|_| fetch_lost(operation))
}

/// The task that made the request is gone without a word: the runtime is
/// shutting down.
fn fetch_lost(operation: &str) -> Arc<Error> {
    Arc::new(Error::failed(operation, Failure::Cancelled))
}
