//! What went wrong, in plain words, and what to do.

use std::time::Duration;

use bowline::server::store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// What follows from an error.
#[derive(Debug)]
pub(super) enum Reaction {
    /// The script is not loaded yet.
    Load,
    /// The keys are on another node of the cluster.
    Redirect(String, u16),
    /// The connection broke: the command may have run.
    Reconnect,
    /// The command did not run, and may with another connection.
    Redial,
    /// The command did not run, and may a little later.
    Wait,
    /// Neither.
    Fail,
}

impl Reaction {
    pub(super) fn to(error: &RedisError) -> Self {
        match error.kind() {
            ErrorKind::Server(ServerErrorKind::NoScript) => Self::Load,
            ErrorKind::Server(ServerErrorKind::Moved) => match moved_to(error) {
                Some((host, port)) => Self::Redirect(host, port),
                None => Self::Fail,
            },
            ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown) => {
                Self::Redial
            }
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Ask
                | ServerErrorKind::ClusterDown,
            ) => Self::Wait,
            ErrorKind::Server(_) => Self::Fail,
            ErrorKind::Extension => match error.code() {
                Some("BUSY" | "NOREPLICAS") => Self::Wait,
                _ => Self::Fail,
            },
            ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig => Self::Fail,
            _ => Self::Reconnect,
        }
    }
}

/// Returns the node that has the keys.
fn moved_to(error: &RedisError) -> Option<(String, u16)> {
    let (address, _) = error.redirect_node()?;
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some(())?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// Returns the error of a store for one of Redis.
pub(super) fn store_error(address: &str, error: RedisError) -> StoreError {
    let what = explain(&error);
    StoreError::new(format!("Redis at {address} {what}")).with_source(error)
}

/// Returns the error for an operation that took too long. `last` is what went wrong
/// meanwhile, if something did.
pub(super) fn timed_out(address: &str, timeout: Duration, last: Option<RedisError>) -> StoreError {
    match last {
        Some(error) => {
            let what = explain(&error);
            let message = format!("Redis at {address} {what} (tried for {timeout:?})");
            StoreError::new(message).with_source(error)
        }
        None => StoreError::new(format!(
            "Redis at {address} did not answer within {timeout:?}: it is paused or \
             overloaded, or the network is slow. Check its `SLOWLOG` and the network, or set \
             a longer `timeout`"
        )),
    }
}

/// Returns the error for data that is gone.
pub(super) fn lost(address: &str) -> StoreError {
    StoreError::new(format!(
        "Redis at {address} has lost its data: it was restarted without persistence, was \
         flushed, or is another one. What was stored before is gone, and conversations from \
         before are rejected; new ones work. Set `appendonly yes`, so restarts lose nothing"
    ))
}

/// Returns the error for a quota that is exceeded.
pub(crate) fn full(whose: &str) -> StoreError {
    StoreError::new(match whose {
        "ACCOUNT" => {
            "the store is full for this caller: it has reached its quota. Wait until \
                      something of it expires, or raise the limits of the stores"
        }
        _ => {
            "the store is full: it has reached the limit for all callers. Wait until \
              something expires, or raise the limits of the stores"
        }
    })
}

/// Says what is the matter, and what to do about it.
fn explain(error: &RedisError) -> &'static str {
    match (error.kind(), error.code()) {
        (_, Some("OOM")) => {
            "is out of memory: raise its `maxmemory`, or lower the limits of the stores"
        }
        (_, Some("MISCONF")) => {
            "rejects writes because it cannot save its data: see its log, and check its disk"
        }
        (_, Some("NOREPLICAS")) => {
            "rejects writes because too few replicas are connected (`min-replicas-to-write`): \
             check its replicas"
        }
        (_, Some("BUSY")) => "is busy with a script of someone else: see `SCRIPT KILL`",
        (_, Some("NOAUTH" | "WRONGPASS")) | (ErrorKind::AuthenticationFailed, _) => {
            "rejected the user name or password: check those in the address"
        }
        (ErrorKind::Server(ServerErrorKind::NoPerm), _) => {
            "does not permit this user a command: see the documentation of bowline-redis for \
             those that are needed"
        }
        (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => {
            "is a read-only replica, perhaps after a failover: connect to the primary"
        }
        (ErrorKind::Server(ServerErrorKind::MasterDown), _) => {
            "is a replica that has lost its primary: connect to the primary"
        }
        (ErrorKind::Server(ServerErrorKind::BusyLoading), _) => {
            "is still loading its data after a restart: try again when it is done"
        }
        (
            ErrorKind::Server(
                ServerErrorKind::ClusterDown
                | ServerErrorKind::TryAgain
                | ServerErrorKind::Ask
                | ServerErrorKind::Moved,
            ),
            _,
        ) => "is part of a cluster that has no node for our keys now: check the cluster",
        (ErrorKind::Server(ServerErrorKind::CrossSlot), _) => {
            "has our keys in several slots: this is a bug of bowline-redis"
        }
        (ErrorKind::InvalidClientConfig, _) => {
            "has no certificate that is trusted for this name: check the name in the address, \
             and `root_certificates`"
        }
        (ErrorKind::Server(_) | ErrorKind::Extension, _) => "rejected a command",
        _ if error.is_connection_refusal() => {
            "cannot be reached: check that it runs, and that the address is right"
        }
        _ => "closed the connection, or cannot be reached: check that it runs, and the network",
    }
}
