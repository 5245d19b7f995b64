//! A standalone HTTP server.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, ToSocketAddrs},
    sync::Semaphore,
    task::JoinSet,
};

use super::{
    HttpService,
    connection::{self, AcceptedConnection},
};

/// The delay before a failed accept is retried.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long the last responses may take to be written after the shutdown
/// timeout.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

impl HttpService {
    /// Serves the connections of a listener, until the future is dropped or the
    /// service is [stopped](Self::stop). Then it accepts no more connections,
    /// closes idle ones, and closes the others when they become idle or the
    /// timeout has passed.
    ///
    /// # Errors
    ///
    /// Currently never: a failed accept is retried.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        Arc::clone(&self.inner.handler).start();
        let mut connections = JoinSet::new();
        let stopping = self.inner.stopping();
        tokio::select! {
            () = stopping.wait_begun() => {}
            () = self.accept(&listener, &mut connections) => {}
        }
        drop(listener);
        let last = stopping
            .deadline()
            .map(|deadline| deadline + FINAL_WRITE_TIMEOUT);
        let drain = async { while connections.join_next().await.is_some() {} };
        if let Some(last) = last {
            // A client that has not read its response by now does not get it.
            let _ = tokio::time::timeout_at(last, drain).await;
            self.inner.handler.background().wait_idle(last).await;
            self.inner.handler.shut_down(last).await;
        }
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.inner.cluster {
            cluster.leave().await;
        }
        Ok(())
    }

    /// Binds an address and serves on it; see [`serve`](Self::serve).
    /// `on_bound` is called with the local address, for use with port 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be bound.
    pub async fn bind_and_serve(
        &self,
        address: impl ToSocketAddrs,
        on_bound: impl FnOnce(SocketAddr),
    ) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        on_bound(listener.local_addr()?);
        self.serve(listener).await
    }

    /// Accepts connections forever.
    async fn accept(&self, listener: &TcpListener, connections: &mut JoinSet<()>) {
        let max = self
            .inner
            .options
            .max_connections
            .min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(max));
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, address)) => {
                        let client = self.inner.quotas.for_address(address.ip());
                        // If the client has too many connections, this one is
                        // closed.
                        if let Ok(quota) = client.connection_permit() {
                            let socket = AcceptedConnection { stream, address, quota, permit };
                            connections.spawn(connection::serve(self.clone(), socket));
                        }
                    }
                    // One connection failed, or too many files are open.
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY_DELAY).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}
