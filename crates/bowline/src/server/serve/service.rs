//! The ways to serve: a link, standard input and output, HTTP, and memory.

use std::{sync::Arc, time::Duration};

use crate::{
    server::{Service, dispatch::request::RequestHandler, service::Core},
    transport::{Link, Memory},
};

impl<S: Send + Sync + 'static> Service<S> {
    /// Serves one client over a [`Link`], which is one open channel of a
    /// transport, until the link is closed or the server is stopped. Steps that
    /// have started may finish first: within the
    /// [`shutdown_timeout`](crate::server::Server::shutdown_timeout) if the client
    /// closed the link, or within the time given to [`stop`](Self::stop).
    ///
    /// The client has all scopes: whoever can open a link may call every tool. Only
    /// HTTP checks the scopes of callers. If the link comes from a network, decide
    /// whom to admit before you serve it.
    pub async fn serve(&self, link: impl Link + 'static) {
        self.core.serve(Box::new(link), None).await;
    }

    /// Serves a client that the transport has authenticated; see
    /// [`serve`](Self::serve). A conversation can only be resumed by the
    /// principal that began it. As there, the client has all scopes.
    pub async fn serve_as(&self, principal: &str, link: impl Link + 'static) {
        let principal = Some(principal.into());
        self.core.serve(Box::new(link), principal).await;
    }

    /// Serves the client at this process's standard input and output, until it
    /// closes the input or the server is stopped.
    ///
    /// On Unix, the rest of the process can no longer use standard input and output
    /// after this call: printed output goes to standard error. On other systems it
    /// must print nothing, because printed output would mix with the messages.
    ///
    /// # Errors
    ///
    /// Returns an error if they are already in use.
    pub async fn serve_stdio(&self) -> std::io::Result<()> {
        self.core.serve_stdio().await
    }

    /// Returns an HTTP service for every revision; see
    /// [`HttpService`](crate::server::http::HttpService).
    #[cfg(feature = "http-server")]
    #[must_use]
    pub fn http(
        &self,
        options: crate::server::http::HttpOptions,
    ) -> crate::server::http::HttpService {
        let handler: Arc<dyn RequestHandler> = Arc::clone(&self.core) as Arc<dyn RequestHandler>;
        crate::server::http::HttpService::new(handler, options)
    }

    /// Serves over HTTP at this address, on any path, until the future is dropped
    /// or the server is stopped.
    /// [`DEFAULT_ADDRESS`](crate::server::http::DEFAULT_ADDRESS) is a suitable default.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be bound.
    #[cfg(feature = "http-server")]
    pub async fn serve_http(&self, address: impl tokio::net::ToSocketAddrs) -> std::io::Result<()> {
        let http = self.http(crate::server::http::HttpOptions::default());
        http.bind_and_serve(address, drop).await
    }

    /// Returns a transport for clients in the same process. Each link is served
    /// by its own task.
    #[must_use]
    pub fn in_memory(&self) -> Memory {
        let (transport, mut listener) = Memory::new();
        let service = self.clone();
        tokio::spawn(async move {
            while let Some(link) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move { service.serve(link).await });
            }
        });
        transport
    }

    /// Begins a graceful stop and returns immediately. No new requests are accepted,
    /// and calls in progress may finish within `timeout`. Then all connections are
    /// closed, and the futures of `serve` and its variants complete. Later
    /// connections are closed immediately.
    pub fn stop(&self, timeout: Duration) {
        self.core.connections.stop(timeout);
    }
}

/// Not generic over the state, so it is compiled only once.
impl Core {
    async fn serve_stdio(self: &Arc<Self>) -> std::io::Result<()> {
        let link = crate::transport::Stdio::take(self.config.max_frame_size)?;
        self.serve(Box::new(link), None).await;
        Ok(())
    }

    async fn serve(self: &Arc<Self>, link: Box<dyn Link>, principal: Option<Arc<str>>) {
        self.start_features();
        let handler: Arc<dyn RequestHandler> = Arc::clone(self) as Arc<dyn RequestHandler>;
        let config = Arc::clone(&self.config);
        let serve_options = self.serve_options.clone();
        let closed_at = self
            .connections
            .serve(handler, config, serve_options, principal, link)
            .await;
        // Calls that were open then have used a part of this time, or all of it.
        let stops = self.connections.stopping().deadline();
        let last = stops.unwrap_or(closed_at + self.serve_options.shutdown_timeout);
        self.background.wait_idle(last).await;
        if stops.is_some() {
            self.shut_down_features(last).await;
        }
    }
}
