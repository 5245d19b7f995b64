//! A server of its own, for those who have none.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, ToSocketAddrs},
    sync::Semaphore,
    task::JoinSet,
};

use super::HttpService;

impl HttpService {
    /// Serves the connections of a listener, until the future is dropped.
    ///
    /// # Errors
    ///
    /// Where the listener fails for good.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let places = Arc::new(Semaphore::new(self.inner.options.connections));
        let mut connections = JoinSet::new();
        loop {
            let place = Arc::clone(&places).acquire_owned().await;
            let place = place.map_err(io::Error::other)?;
            let stream = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    // One connection that failed, or too many files for now.
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            };
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(self.clone());
            let head = self.inner.options.header_time;
            connections.spawn(async move {
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(head)
                    .max_buf_size(64 * 1024)
                    .serve_connection(TokioIo::new(stream), service);
                // A connection that breaks is its client's business.
                let _ = connection.await;
                drop(place);
            });
        }
    }

    /// Binds an address and serves there, until the future is dropped.
    /// `bound` is told the address, for those who ask for any port.
    ///
    /// # Errors
    ///
    /// Where the address cannot be bound.
    pub async fn bind(
        &self,
        address: impl ToSocketAddrs,
        bound: impl FnOnce(SocketAddr),
    ) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        bound(listener.local_addr()?);
        self.serve(listener).await
    }
}
