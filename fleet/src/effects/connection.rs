//! A node's connections to the effects process.

use std::{
    io,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use super::log::{Effect, Request, Response};

/// Connections that are used again. One that is dropped within an exchange is not.
pub(crate) struct EffectsConnections {
    address: SocketAddr,
    idle: Mutex<Vec<BufReader<TcpStream>>>,
}

impl EffectsConnections {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            idle: Mutex::default(),
        }
    }

    /// Does something. Returns its number, once it is written down, or `None` if it was
    /// rejected.
    pub(crate) async fn perform(&self, effect: Effect) -> io::Result<Response> {
        self.ask(&Request::Perform(effect)).await
    }

    /// Returns the number of the effect with this key. If there is none, there never will
    /// be one.
    pub(crate) async fn settle(&self, key: String) -> io::Result<Response> {
        self.ask(&Request::Settle(key)).await
    }

    async fn ask(&self, request: &Request) -> io::Result<Response> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => {
                let stream = TcpStream::connect(self.address).await?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let line = format!("{}\n", serde_json::to_string(request)?);
        connection.write_all(line.as_bytes()).await?;
        let mut response = String::new();
        connection.read_line(&mut response).await?;
        let response = serde_json::from_str(&response)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
        Ok(response)
    }
}
