//! The contracts of stores, and what they share: connections, unique keys, and
//! waiting for stores that have their own clock.

#[cfg(feature = "server")]
mod change_bus;
#[cfg(feature = "http-server")]
mod event;
#[cfg(feature = "server")]
mod expiry;
#[cfg(feature = "server")]
mod journal;
#[cfg(feature = "cluster")]
mod node;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod revoked_token;
#[cfg(feature = "http-server")]
mod session;
#[cfg(feature = "server")]
mod state;
#[cfg(feature = "server")]
mod task;
#[cfg(all(feature = "auth", feature = "http-client"))]
mod token;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod used_proof;

use std::{
    collections::hash_map::RandomState,
    error::Error,
    hash::{BuildHasher as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, timeout};

#[cfg(feature = "server")]
pub use change_bus::change_bus;
#[cfg(feature = "http-server")]
pub use event::event_store;
#[cfg(feature = "server")]
pub use journal::journal_store;
#[cfg(feature = "cluster")]
pub use node::node_store;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use revoked_token::revoked_token_store;
#[cfg(feature = "http-server")]
pub use session::session_store;
#[cfg(feature = "server")]
pub use state::sealed_state_store;
#[cfg(feature = "server")]
pub use task::task_store;
#[cfg(all(feature = "auth", feature = "http-client"))]
pub use token::token_store;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use used_proof::used_proof_store;

/// Timeout of a single operation, far more than any store needs.
const OPERATION_TIMEOUT: Duration = Duration::from_secs(30);

/// How long data is kept that is not meant to expire during the test.
#[cfg(feature = "server")]
const LONG_TTL: Duration = Duration::from_secs(60 * 60);

/// The number of writers that race.
const WRITERS: usize = 8;

/// How often a race is repeated, at least and at most. A slow store is not
/// asked for the maximum.
const RACES: std::ops::Range<usize> = 8..64;

/// After this time, a race is not repeated more often than the minimum.
const RACE_TIME: Duration = Duration::from_secs(5);

/// Two connections to the store under test, as two nodes of a server have.
struct Nodes<S: ?Sized>([Arc<S>; 2]);

impl<S: ?Sized> Nodes<S> {
    async fn connect(connect: impl AsyncFn() -> Arc<S>) -> Self {
        Self([connect().await, connect().await])
    }

    fn first(&self) -> &S {
        &self.0[0]
    }

    fn second(&self) -> &S {
        &self.0[1]
    }

    /// Returns the connection of the writer with this number.
    fn of_writer(&self, number: usize) -> Arc<S> {
        Arc::clone(&self.0[number % 2])
    }
}

/// Returns the result of an operation, which must succeed within its time.
async fn succeed<T, E: Error>(operation: &str, running: impl Future<Output = Result<T, E>>) -> T {
    match timeout(OPERATION_TIMEOUT, running).await {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => panic!("`{operation}` failed: {}", with_causes(&error)),
        Err(_) => panic!("`{operation}` did not return within {OPERATION_TIMEOUT:?}"),
    }
}

/// Returns the message of an error and of its causes.
fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    message
}

/// Returns 32 characters of `0-9` and `a-f` that no other call returns.
fn unique_id() -> String {
    // Its keys are random, and differ from one to the next.
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

/// Repeats a race, fewer times if the store is slow.
async fn repeat(race: impl AsyncFn(usize)) {
    let began = Instant::now();
    for round in 0..RACES.end {
        if round >= RACES.start && began.elapsed() > RACE_TIME {
            return;
        }
        race(round).await;
    }
}
