//! The caching client.

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
/// Cheap to clone. Results are shared, not copied; so are errors, because one may be
/// the result of several concurrent requests.
///
/// Dropping the future of a request does not affect others that wait for the same
/// result; when the last one is dropped, the request is cancelled.
#[derive(Clone)]
pub struct CachedClient {
    handle: Arc<CacheHandle>,
    principal: Principal,
    options: CallOptions,
    connect_timeout: Option<Duration>,
}

/// The part of the cache that belongs to one connection.
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

    /// Returns the underlying client, which bypasses the cache.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.handle.client
    }

    /// Returns the same client for a principal. Results that the server does not mark
    /// as public are shared only between requests for the same principal.
    #[must_use]
    pub fn for_principal(&self, principal: &str) -> Self {
        Self {
            principal: Some(principal.into()),
            ..self.clone()
        }
    }

    /// Returns the same client with options for its requests. Concurrent requests for
    /// the same item share the request, and so the options, of the first.
    #[must_use]
    pub fn with_options(&self, options: CallOptions) -> Self {
        Self {
            options,
            ..self.clone()
        }
    }

    /// Returns the same client, which waits for the connection if it is down when a
    /// request has to be sent: for an attempt in progress, or for the next one if it is
    /// due within `timeout`. Otherwise such a request fails immediately. Cached items
    /// are available in any case.
    #[must_use]
    pub fn wait_for_connection(&self, timeout: Duration) -> Self {
        Self {
            connect_timeout: Some(timeout),
            ..self.clone()
        }
    }

    /// Returns all tools.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not cached and cannot be fetched.
    pub async fn tools(&self) -> Result<Arc<Vec<Tool>>, Arc<Error>> {
        self.list::<ListToolsParams>().await
    }

    /// Returns all prompts.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not cached and cannot be fetched.
    pub async fn prompts(&self) -> Result<Arc<Vec<Prompt>>, Arc<Error>> {
        self.list::<ListPromptsParams>().await
    }

    /// Returns all resources.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not cached and cannot be fetched.
    pub async fn resources(&self) -> Result<Arc<Vec<Resource>>, Arc<Error>> {
        self.list::<ListResourcesParams>().await
    }

    /// Returns all resource templates.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not cached and cannot be fetched.
    pub async fn templates(&self) -> Result<Arc<Vec<ResourceTemplate>>, Arc<Error>> {
        self.list::<ListResourceTemplatesParams>().await
    }

    /// Returns the contents of a resource.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not cached and cannot be fetched.
    pub async fn read(&self, uri: &str) -> Result<Arc<ReadResourceResult>, Arc<Error>> {
        let uri: Arc<str> = uri.into();
        let item = CachedItem::Contents(Arc::clone(&uri));
        let (client, options) = self.request_parts();
        let fetch = async move { fetch::contents(client, options, &uri).await };
        self.get(method::RESOURCES_READ, item, fetch).await
    }

    /// Calls a tool, unless its result for the same arguments is cached. Tool results
    /// are cached only if [`tool_ttl`](super::CacheConfig::tool_ttl) is set.
    ///
    /// # Errors
    ///
    /// Returns an error if the result is not cached and the call fails. A failure of
    /// the tool itself is part of the result, which is then not cached.
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

    /// Calls a tool that changes cached data, such as one that syncs a repository, and
    /// invalidates everything when the call ends, whatever its outcome.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call.
    pub async fn call_and_invalidate<A: Serialize>(
        &self,
        tool: &str,
        arguments: A,
    ) -> Result<CallToolResult, Error> {
        let _guard = InvalidateOnDrop(self);
        self.call_uncached(tool, arguments).await
    }

    /// Invalidates the contents of one resource.
    pub fn invalidate(&self, uri: &str) {
        self.invalidate_matching(&Invalidation::Contents(uri.into()));
    }

    /// Invalidates all lists.
    pub fn invalidate_lists(&self) {
        self.invalidate_matching(&Invalidation::Lists);
    }

    /// Invalidates everything of this connection.
    pub fn invalidate_all(&self) {
        self.invalidate_matching(&Invalidation::Everything);
    }

    /// Returns the statistics of this connection.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        let state = self.handle.shared.lock();
        let source = state.sources.get(&self.handle.source);
        source.map(|source| source.stats).unwrap_or_default()
    }

    /// Returns the number of cached resources of this connection.
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
        // The lock is released before waiting.
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

    /// Calls a tool, bypassing the cache.
    async fn call_uncached<A: Serialize>(
        &self,
        tool: &str,
        arguments: A,
    ) -> Result<CallToolResult, Error> {
        let (client, options) = self.request_parts();
        let call = client.tools().call(tool, arguments);
        wait_connected(&client, self.connect_timeout).await?;
        call.options(options).await
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

/// Invalidates everything at the end of a call, even of one that is cancelled, because
/// it may have had its effect.
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

/// Serializes the arguments for the wire and in canonical form.
fn encode<A: Serialize>(arguments: &A) -> Result<(RawJson, Arc<str>), Arc<Error>> {
    let encode_error = |error: serde_json::Error| Error::encode(method::TOOLS_CALL, error.into());
    let arguments = RawJson::encode(arguments).map_err(encode_error)?;
    let canonical = canonicalize(arguments.get().as_bytes());
    let canonical = String::from_utf8_lossy(&canonical).into();
    Ok((arguments, canonical))
}

fn typed<T: Any + Send + Sync>(operation: &str, value: Value) -> Result<Arc<T>, Arc<Error>> {
    // The key determines the type of the value.
    value.downcast().map_err(|_| fetch_lost(operation))
}

/// The error for a fetch whose task ended without a result because the runtime is
/// shutting down.
fn fetch_lost(operation: &str) -> Arc<Error> {
    Arc::new(Error::failed(operation, Failure::Cancelled))
}
