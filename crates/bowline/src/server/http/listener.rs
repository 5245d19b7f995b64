//! A server of its own, for those who have none.

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

/// How long to wait before a listener that failed is asked again.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
/// How long the last answers may take to be written, when the grace is over.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_secs(1);

impl HttpService {
    /// Serves the connections of a listener, until the future is dropped or the
    /// service is [stopped](Self::stop). Then no more connections are taken,
    /// those that are idle are closed, and the others when they are, or when
    /// the grace is over.
    ///
    /// # Errors
    ///
    /// None today: a listener that fails is asked again.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
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
            // Who has not read its answer by now does not get it.
            let _ = tokio::time::timeout_at(last, drain).await;
            self.inner.handler.background().wait_idle(last).await;
        }
        Ok(())
    }

    /// Binds an address and serves there; see [`serve`](Self::serve). `bound`
    /// is told the address, for those who ask for any port.
    ///
    /// # Errors
    ///
    /// Where the address cannot be bound.
    pub async fn bind_and_serve(
        &self,
        address: impl ToSocketAddrs,
        on_bound: impl FnOnce(SocketAddr),
    ) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        on_bound(listener.local_addr()?);
        self.serve(listener).await
    }

    /// Takes connections, for ever.
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
                        // Whoever has too many has this one closed.
                        if let Ok(quota) = client.connection_permit() {
                            let socket = AcceptedConnection { stream, address, quota, permit };
                            connections.spawn(connection::serve(self.clone(), socket));
                        }
                    }
                    // One connection that failed, or too many files for now.
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY_DELAY).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}
