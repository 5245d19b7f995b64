//! The connection that all stores of a process share.
//!
//! Commands of all callers travel on one connection. If it breaks, the next command
//! opens another, and all wait for that one. An operation has a deadline for everything:
//! waiting, dialling, and attempts. Within it, a command is sent again if it certainly
//! did not run (the server said so), or if running it twice is the same as once (see
//! [`ScriptCall::not_repeatable`]).

mod address;
mod error;
mod reply;
mod tls;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline::server::store::StoreError;
use redis::{
    AsyncConnectionConfig, Cmd, RedisError, RedisResult, Value,
    aio::{MultiplexedConnection, PubSub},
};
use tokio::{
    task::AbortHandle,
    time::{Instant, sleep, timeout_at},
};

use self::error::{Reaction, lost, store_error, timed_out};
pub(crate) use self::{
    address::Address,
    error::full,
    reply::{Reply, optional_bytes},
    tls::Tls,
};
use crate::{
    keys::Keys,
    script::{START, ScriptCall},
};

/// The delay before the second attempt, and the longest one.
const FIRST_DELAY: Duration = Duration::from_millis(10);
const MAX_DELAY: Duration = Duration::from_millis(200);

/// The connection to Redis.
pub(crate) struct Connection {
    address: Address,
    timeout: Duration,
    current: Mutex<Current>,
    /// Held while someone opens a connection.
    dialling: tokio::sync::Mutex<()>,
    keys: Keys,
    /// The generation of the data, as this process knows it.
    generation: Mutex<Arc<str>>,
    tokens: Tokens,
}

#[derive(Default)]
struct Current {
    connection: Option<Arc<OpenConnection>>,
    /// How many there were before, so that only a broken one is discarded.
    number: u64,
    /// The node of the cluster that has our keys, if it is another one.
    node: Option<Address>,
}

/// How far an operation is.
#[derive(Default)]
struct Progress {
    /// The connection that it used last; they are counted from one.
    number: u64,
    /// The last error after which it was tried again.
    last_error: Option<RedisError>,
}

/// An open connection, which is closed when its last user is done.
struct OpenConnection {
    connection: MultiplexedConnection,
    driver: AbortHandle,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    /// Creates a connection, which is opened by the first command.
    pub(crate) fn new(address: Address, timeout: Duration, keys: Keys) -> Self {
        Self {
            address,
            timeout,
            current: Mutex::default(),
            dialling: tokio::sync::Mutex::default(),
            keys,
            generation: Mutex::new("".into()),
            tokens: Tokens::new(),
        }
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the generation of the data, as this process knows it.
    pub(crate) fn generation(&self) -> Arc<str> {
        Arc::clone(&lock(&self.generation))
    }

    /// Returns a text that no other call has.
    pub(crate) fn token(&self) -> String {
        self.tokens.next()
    }

    /// Learns the generation of the data, and sets it if there is none.
    pub(crate) async fn start(&self) -> Result<(), StoreError> {
        let call = START.call([self.keys.generation()]).owned(random_hex());
        match self.execute(Request::Script(&call, None)).await? {
            Value::BulkString(generation) => {
                let generation = String::from_utf8_lossy(&generation).into_owned();
                *lock(&self.generation) = generation.into();
                Ok(())
            }
            _ => Err(reply::unexpected()),
        }
    }

    /// Runs a script that checks the generation first.
    pub(crate) async fn run(&self, call: ScriptCall<'_>) -> Result<Reply, StoreError> {
        let generation = self.generation();
        let request = Request::Script(&call, Some(&generation));
        let reply = Reply::new(self.execute(request).await?)?;
        if !reply.is("LOST") {
            return Ok(reply);
        }
        // The next operation works with the new generation.
        self.start().await?;
        Err(lost(&self.address.to_string()))
    }

    /// Runs a command that changes nothing.
    pub(crate) async fn query(&self, command: &Cmd) -> Result<Value, StoreError> {
        self.execute(Request::Query(command)).await
    }

    async fn execute(&self, request: Request<'_>) -> Result<Value, StoreError> {
        let mut progress = Progress::default();
        let deadline = Instant::now() + self.timeout;
        match timeout_at(deadline, self.attempts(request, &mut progress)).await {
            Ok(ended) => ended.map_err(|error| store_error(&self.address.to_string(), error)),
            Err(_) => {
                // It may be half open: the next operation opens another one.
                self.discard(progress.number);
                let address = self.address.to_string();
                Err(timed_out(&address, self.timeout, progress.last_error))
            }
        }
    }

    /// Sends a request until it succeeds or cannot succeed.
    async fn attempts(&self, request: Request<'_>, progress: &mut Progress) -> RedisResult<Value> {
        let mut delay = FIRST_DELAY;
        loop {
            let (connection, number) = match self.connection().await {
                Ok(opened) => opened,
                Err(error) if matches!(Reaction::to(&error), Reaction::Fail) => return Err(error),
                Err(error) => {
                    progress.last_error = Some(error);
                    sleep(delay).await;
                    delay = MAX_DELAY.min(delay * 2);
                    continue;
                }
            };
            progress.number = number;
            let error = match request.send(&connection).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            match Reaction::to(&error) {
                Reaction::Redirect(host, port) => self.redirect(number, host, port),
                Reaction::Reconnect if !request.is_repeatable() => {
                    self.discard(number);
                    return Err(error);
                }
                Reaction::Reconnect | Reaction::Redial => self.discard(number),
                Reaction::Wait => {}
                Reaction::Load | Reaction::Fail => return Err(error),
            }
            progress.last_error = Some(error);
            sleep(delay).await;
            delay = MAX_DELAY.min(delay * 2);
        }
    }
}

/// Opening and discarding connections.
impl Connection {
    /// Returns the open connection and its number, and opens one if there is none.
    async fn connection(&self) -> RedisResult<(Arc<OpenConnection>, u64)> {
        if let Some(open) = lock(&self.current).open() {
            return Ok(open);
        }
        let _dialling = self.dialling.lock().await;
        // Someone else may have opened one meanwhile.
        if let Some(open) = lock(&self.current).open() {
            return Ok(open);
        }
        let opened = self.dial().await;
        let mut current = lock(&self.current);
        match opened {
            Ok(opened) => {
                let opened = Arc::new(opened);
                current.number += 1;
                current.connection = Some(Arc::clone(&opened));
                Ok((opened, current.number))
            }
            Err(error) => {
                current.node = None;
                Err(error)
            }
        }
    }

    async fn dial(&self) -> RedisResult<OpenConnection> {
        let address = self.node();
        let stream = address.dial(self.timeout).await?;
        // Operations have deadlines of their own.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let opening = MultiplexedConnection::new_with_config(address.credentials(), stream, config);
        let (connection, driver) = opening.await?;
        Ok(OpenConnection {
            connection,
            driver: tokio::spawn(driver).abort_handle(),
        })
    }

    /// Opens a connection that receives messages of channels.
    pub(crate) async fn subscriber(&self) -> RedisResult<PubSub> {
        let address = self.node();
        let stream = address.dial(self.timeout).await?;
        PubSub::new(address.credentials(), stream).await
    }

    fn node(&self) -> Address {
        let node = lock(&self.current).node.clone();
        node.unwrap_or_else(|| self.address.clone())
    }

    /// Closes the connection with this number, if it is still the open one. Commands in
    /// flight keep theirs until they end.
    fn discard(&self, number: u64) {
        let mut current = lock(&self.current);
        if number == current.number {
            current.connection = None;
        }
    }

    /// Continues with another node of the cluster.
    fn redirect(&self, number: u64, host: String, port: u16) {
        self.discard(number);
        lock(&self.current).node = Some(self.address.of_node(host, port));
    }
}

impl Current {
    fn open(&self) -> Option<(Arc<OpenConnection>, u64)> {
        Some((Arc::clone(self.connection.as_ref()?), self.number))
    }
}

/// What is sent to Redis.
#[derive(Clone, Copy)]
enum Request<'a> {
    /// A script, with the generation that it checks.
    Script(&'a ScriptCall<'a>, Option<&'a str>),
    /// A command that changes nothing.
    Query(&'a Cmd),
}

impl Request<'_> {
    fn is_repeatable(&self) -> bool {
        match self {
            Self::Script(call, _) => call.is_repeatable(),
            Self::Query(_) => true,
        }
    }

    async fn send(&self, open: &OpenConnection) -> RedisResult<Value> {
        let mut connection = open.connection.clone();
        match self {
            Self::Query(command) => send(&mut connection, command).await,
            Self::Script(call, generation) => {
                let ended = send(&mut connection, &call.by_hash(*generation)).await;
                match ended {
                    // Redis forgets its scripts when it restarts.
                    Err(error) if matches!(Reaction::to(&error), Reaction::Load) => {
                        send(&mut connection, &call.by_code(*generation)).await
                    }
                    ended => ended,
                }
            }
        }
    }
}

async fn send(connection: &mut MultiplexedConnection, command: &Cmd) -> RedisResult<Value> {
    let value = connection.send_packed_command(command).await?;
    value.extract_error()
}

/// Makes texts that no other process or call has.
struct Tokens {
    process: String,
    next: AtomicU64,
}

impl Tokens {
    fn new() -> Self {
        Self {
            process: random_hex(),
            next: AtomicU64::new(0),
        }
    }

    fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{}{number:x}", self.process)
    }
}

/// Returns 32 random characters of `0-9` and `a-f`.
///
/// # Panics
///
/// Panics if the system has no randomness, as the stores in memory do.
fn random_hex() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    format!("{:032x}", u128::from_le_bytes(bytes))
}

/// Locks a mutex. What it holds is valid even if a holder panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
