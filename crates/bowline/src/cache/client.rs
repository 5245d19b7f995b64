//! The client that remembers.

use std::{any::Any, fmt, future::Future, sync::Arc, time::Duration};

use serde::Serialize;
use tokio::time::Instant;

use super::{
    Found, Shared, Stats,
    fetch::{self, Fetched, Listed},
    flight::{self, Route},
    key::{Principal, SourceId, Stale, What},
    store::Value,
};
use crate::{
    canonical::canonical,
    client::{Client, Error},
    proto::{
        client::{CallOptions, Failure},
        jsonrpc::RawJson,
        model::{
            CallToolResult, ListPromptsParams, ListResourceTemplatesParams, ListResourcesParams,
            ListToolsParams, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool, method,
        },
    },
    registry::opening,
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
    part: Arc<Part>,
    principal: Principal,
    options: CallOptions,
    patience: Option<Duration>,
}

/// One connection's part of the memory.
struct Part {
    client: Client,
    shared: Arc<Shared>,
    source: SourceId,
}

impl Drop for Part {
    fn drop(&mut self) {
        self.shared.lock().remove(self.source);
    }
}

impl CachedClient {
    pub(super) fn new(client: Client, shared: Arc<Shared>, source: SourceId) -> Self {
        Self {
            part: Arc::new(Part {
                client,
                shared,
                source,
            }),
            principal: None,
            options: CallOptions::default(),
            patience: None,
        }
    }

    /// The connection itself, past the memory.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.part.client
    }

    /// The same client on behalf of somebody. What the server does not call
    /// public is given only to those on whose behalf it was asked for.
    #[must_use]
    pub fn on_behalf_of(&self, principal: &str) -> Self {
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
    pub fn wait_for_connection(&self, patience: Duration) -> Self {
        Self {
            patience: Some(patience),
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
        let what = What::Contents(Arc::clone(&uri));
        let (client, options) = self.means();
        let fetch = async move { fetch::contents(client, options, &uri).await };
        self.get(method::RESOURCES_READ, what, fetch).await
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
        if !self.part.shared.config.keeps_tool_results() {
            let result = self.ask(tool, arguments).await;
            return result.map(Arc::new).map_err(Arc::new);
        }
        let (arguments, canonical) = encode(&arguments)?;
        let tool: Arc<str> = tool.into();
        let what = What::ToolResult {
            tool: Arc::clone(&tool),
            arguments: canonical,
        };
        let (client, options) = self.means();
        let fetch = async move { fetch::tool_result(client, options, &tool, arguments).await };
        self.get(method::TOOLS_CALL, what, fetch).await
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
        let _forget = Forget(self);
        self.ask(tool, arguments).await
    }

    /// Forgets the contents of one resource.
    pub fn invalidate(&self, uri: &str) {
        self.forget(&Stale::Contents(uri.into()));
    }

    /// Forgets all lists.
    pub fn invalidate_lists(&self) {
        self.forget(&Stale::Lists);
    }

    /// Forgets everything of this connection's.
    pub fn invalidate_all(&self) {
        self.forget(&Stale::Everything);
    }

    /// What the memory has done for this connection so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let state = self.part.shared.lock();
        let source = state.sources.get(&self.part.source);
        source.map(|source| source.stats).unwrap_or_default()
    }

    /// How many resources of this connection's are remembered.
    #[must_use]
    pub fn cached_resources(&self) -> usize {
        let mut state = self.part.shared.lock();
        state.catch_up(self.part.source);
        state.store.resources(self.part.source, Instant::now())
    }

    async fn list<P: Listed>(&self) -> Result<Arc<Vec<P::Item>>, Arc<Error>> {
        let (client, options) = self.means();
        let fetch = fetch::list::<P>(client, options);
        self.get(P::METHOD, P::WHAT, fetch).await
    }

    async fn get<T: Any + Send + Sync>(
        &self,
        operation: &'static str,
        what: What,
        fetch: impl Future<Output = Result<Fetched<T>, Error>> + Send + 'static,
    ) -> Result<Arc<T>, Arc<Error>> {
        let route = Route {
            source: self.part.source,
            principal: self.principal.clone(),
            what,
        };
        // The lock is let go before anybody waits.
        let found = self.part.shared.lock().find(&route);
        let waiting = match found {
            Found::Kept(value) => return typed(operation, value),
            Found::Awaited(waiting) => waiting,
            Found::Missing(flight, waiting) => {
                let (client, patience) = (self.part.client.clone(), self.patience);
                let fetch = async move {
                    connected(&client, patience).await?;
                    fetch.await
                };
                flight::take_off(Arc::clone(&self.part.shared), route, flight, fetch);
                waiting
            }
        };
        match flight::landing(waiting).await {
            Some(landing) => typed(operation, landing?),
            None => Err(vanished(operation)),
        }
    }

    /// Calls a tool, past the memory.
    async fn ask<A: Serialize>(&self, tool: &str, arguments: A) -> Result<CallToolResult, Error> {
        let (client, options) = self.means();
        let call = client.tools().call(tool, arguments);
        connected(&client, self.patience).await?;
        call.with(|call| call.options(options)).await
    }

    fn means(&self) -> (Client, CallOptions) {
        (self.part.client.clone(), self.options.clone())
    }

    fn forget(&self, stale: &Stale) {
        self.part.shared.lock().invalidate(self.part.source, stale);
    }
}

impl fmt::Debug for CachedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedClient")
            .field("client", &self.part.client)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Forgets everything at the end of a call, even of one that is given up: it
/// may have had its effect.
struct Forget<'a>(&'a CachedClient);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.invalidate_all();
    }
}

async fn connected(client: &Client, patience: Option<Duration>) -> Result<(), Error> {
    match patience {
        Some(patience) => opening::open(client, patience).await,
        None => Ok(()),
    }
}

/// The arguments for the wire, and in canonical form.
fn encode<A: Serialize>(arguments: &A) -> Result<(RawJson, Arc<str>), Arc<Error>> {
    let refused = |error: serde_json::Error| Error::unencodable(method::TOOLS_CALL, error.into());
    let arguments = RawJson::encode(arguments).map_err(refused)?;
    let text = canonical(arguments.get().as_bytes());
    let text = String::from_utf8_lossy(&text).into();
    Ok((arguments, text))
}

fn typed<T: Any + Send + Sync>(operation: &str, value: Value) -> Result<Arc<T>, Arc<Error>> {
    // The key says which type it is, so that it is this one.
    value.downcast().map_err(|_| vanished(operation))
}

/// The task that made the request is gone without a word: the runtime is
/// shutting down.
fn vanished(operation: &str) -> Arc<Error> {
    Arc::new(Error::failed(operation, Failure::Cancelled))
}
