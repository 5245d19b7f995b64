//! A node: a server whose tools have effects, with its stores in Redis.

mod tools;
mod unguarded;

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use bowline::server::{
    Server, TaskOptions,
    http::{Cluster, HttpOptions},
    seal::SealKeys,
    store::Stores,
};
use bowline_redis::RedisStores;
use tokio::{net::TcpListener, time::sleep};

use self::{tools::Desk, unguarded::UnguardedJournals};

pub use tools::Report;

/// How long conversations, tasks and idle sessions are kept. Nothing here takes as long,
/// and the store must have room for all of them.
const KEPT: Duration = Duration::from_secs(180);
/// How often a node tries to connect to Redis.
const MAX_ATTEMPTS: u32 = 200;

/// The settings of a node.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// The address of Redis.
    pub redis: String,
    /// The address of the effects process.
    pub effects: SocketAddr,
    /// The port to serve on, or 0 for any.
    pub port: u16,
    /// The name of the node in the log of effects.
    pub name: String,
    /// The secret that all nodes share.
    pub secret: String,
    /// The lease of conversations, tasks and sessions.
    pub lease: Duration,
    /// Whether journals are not respected, to show that this is noticed.
    pub is_unguarded: bool,
}

/// Serves until the process ends. Prints the port first.
///
/// # Errors
///
/// Returns an error if Redis or the port cannot be used.
pub async fn serve(options: NodeOptions) -> io::Result<()> {
    let mut stores = Stores::from(connect(&options).await?);
    if options.is_unguarded {
        stores.journals = Arc::new(UnguardedJournals(stores.journals));
    }
    let secret = SealKeys::from_secret(options.secret.as_bytes());
    let tasks = TaskOptions::new()
        .ttl(KEPT)
        .max_ttl(KEPT)
        .poll_interval(Duration::from_millis(50))
        .max_per_caller(100_000);
    let service = Server::new("fleet", "1")
        .state(Desk::new(&options))
        .seal_keys(secret.map_err(io::Error::other)?)
        .stores(stores)
        .lease_timeout(options.lease)
        .conversation_timeout(KEPT)
        .task_options(tasks)
        .tool(tools::book())
        .tool(tools::job())
        .tool(tools::plain())
        .build()
        .map_err(io::Error::other)?;
    let listener = bind(options.port).await?;
    let address = listener.local_addr()?;
    let cluster = Cluster::new(&format!("http://{address}/mcp")).lease_timeout(options.lease);
    let http = service.http(HttpOptions {
        cluster: Some(cluster),
        idle_timeout: KEPT,
        ..HttpOptions::default()
    });
    writeln!(io::stdout(), "{}", address.port())?;
    http.serve(listener).await
}

/// Connects to Redis, which may be restarting.
async fn connect(options: &NodeOptions) -> io::Result<RedisStores> {
    let mut attempts = 0;
    loop {
        let builder = RedisStores::builder(&options.redis).timeout(options.lease / 3);
        match builder.connect().await {
            Ok(stores) => return Ok(stores),
            Err(error) if attempts == MAX_ATTEMPTS => return Err(io::Error::other(error)),
            Err(_) => attempts += 1,
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Binds the port that the node had before. A connection of someone else may have it, for
/// a while; then any other one will do.
async fn bind(port: u16) -> io::Result<TcpListener> {
    for _ in 0..20 {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
            return Ok(listener);
        }
        sleep(Duration::from_millis(50)).await;
    }
    TcpListener::bind(("127.0.0.1", 0)).await
}
