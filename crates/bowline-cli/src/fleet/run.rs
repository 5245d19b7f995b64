//! Running something on many servers concurrently.

use std::time::{Duration, Instant};

use bowline::{
    Backoff, Client, Error, Timeouts,
    client::ClientBuilder,
    transport::{ConnectionErrorKind, Transport},
};
use tokio::task::JoinSet;

use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    shutdown::Shutdown,
    target::{CommandClock, Target, client_builder, timed_out, trust},
    traffic,
};

/// The result for one server.
#[derive(Debug)]
pub(crate) struct ServerResult<T> {
    /// The name of the server.
    pub(crate) name: String,
    /// How long it took to open the session, or to fail.
    pub(crate) open_time: Duration,
    pub(crate) result: Result<T, Failure>,
}

/// The state of a server, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    Connected,
    Unreachable,
    Unauthorized,
    TimedOut,
    Error,
}

impl ServerState {
    pub(crate) fn from_result<T>(result: &Result<T, Failure>) -> Self {
        match result.as_ref().map_err(|failure| failure.kind) {
            Ok(_) => Self::Connected,
            Err(FailureKind::Unreachable) => Self::Unreachable,
            Err(FailureKind::Authorization) => Self::Unauthorized,
            Err(FailureKind::Timeout) => Self::TimedOut,
            Err(_) => Self::Error,
        }
    }

    /// Returns the word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::TimedOut => "too slow",
            Self::Error => "error",
        }
    }
}

/// Connects to all servers concurrently, runs `work` on each, and returns after
/// `limit` at the latest, with the results in the order of the servers.
pub(crate) async fn run_on_all<T, F, W>(
    cx: &Context,
    targets: &[Target],
    limit: Duration,
    work: F,
) -> Vec<ServerResult<T>>
where
    T: Send + 'static,
    F: Fn(Client) -> W + Clone + Send + 'static,
    W: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let mut results = JoinSet::new();
    for (index, target) in targets.iter().enumerate() {
        let prepared = prepare(cx, target, limit).await;
        let (name, deadline, work) = (
            target.name().to_owned(),
            Deadline::new(cx, limit),
            work.clone(),
        );
        results.spawn(async move { (index, run_session(name, prepared, deadline, work).await) });
    }
    let mut results = results.join_all().await;
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Connects to one server and runs `work` on it.
pub(crate) async fn run_on_one<T, F, W>(
    cx: &Context,
    target: &Target,
    limit: Duration,
    work: F,
) -> Result<T, Failure>
where
    F: FnOnce(Client) -> W,
    W: Future<Output = Result<T, Failure>>,
{
    let name = target.name().to_owned();
    let prepared = prepare(cx, target, limit).await;
    let session = run_session(name, prepared, Deadline::new(cx, limit), work);
    session.await.result
}

type PreparedClient = Result<(ClientBuilder, Box<dyn Transport>, Shutdown), Failure>;

/// Time limit for one server: the command's timeout, if one was given.
struct Deadline {
    clock: CommandClock,
    /// The command time at which it expires.
    deadline: Duration,
    timeout: Duration,
}

impl Deadline {
    fn new(cx: &Context, limit: Duration) -> Self {
        let clock = cx.globals.clock.clone();
        let (deadline, timeout) = match cx.timeout() {
            Some(command_timeout) => (command_timeout, command_timeout),
            None => (clock.elapsed() + limit, limit),
        };
        Self {
            clock,
            deadline,
            timeout,
        }
    }

    async fn run<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let outcome = self.clock.with_timeout(self.deadline, work).await;
        outcome.unwrap_or_else(|| Err(timed_out(self.timeout)))
    }
}

async fn prepare(cx: &Context, target: &Target, limit: Duration) -> PreparedClient {
    trust::ensure_trusted(cx, target).await?;
    let transport = traffic::observe_transport(target.transport(&cx.globals)?, &cx.globals)?;
    let mut settings = client_builder(cx, target);
    if cx.timeout().is_none() {
        settings = settings.timeouts(timeouts_for(limit));
    }
    // There is no time for a second attempt.
    if let Ok(no_retry) = Backoff::new(limit * 2, limit * 2, 0.0) {
        settings = settings.backoff(no_retry);
    }
    Ok((settings, transport, cx.shutdown.clone()))
}

/// A probe without a response must leave time for the handshake.
fn timeouts_for(limit: Duration) -> Timeouts {
    Timeouts {
        connect: limit,
        probe: (limit / 2).min(Timeouts::standard().probe),
        resource: limit,
        tool: limit,
        other: limit,
        input: limit,
    }
}

async fn run_session<T, F, W>(
    name: String,
    prepared: PreparedClient,
    deadline: Deadline,
    work: F,
) -> ServerResult<T>
where
    F: FnOnce(Client) -> W,
    W: Future<Output = Result<T, Failure>>,
{
    let (settings, transport, shutdown) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => {
            return ServerResult {
                name,
                open_time: Duration::ZERO,
                result: Err(failure),
            };
        }
    };
    let start = Instant::now();
    let client = settings.connect_in_background(transport);
    shutdown.register(&client);
    let opening = deadline.run(async { client.wait_first_attempt().await.map_err(open_failure) });
    let opening = opening.await;
    let open_time = start.elapsed();
    let result = match opening {
        Ok(()) => deadline.run(work(client.clone())).await,
        Err(failure) => Err(failure),
    };
    client.stop().await;
    ServerResult {
        name,
        open_time,
        result,
    }
}

/// Converts the reason why no session was opened, without repeating the state.
fn open_failure(error: Error) -> Failure {
    let why = error.connection_error().map(|cause| match cause.kind() {
        ConnectionErrorKind::Unreachable(why) => why.clone(),
        _ => format!("{cause:#}"),
    });
    let failure = Failure::from(error);
    match why {
        Some(message) => Failure { message, ..failure },
        None => failure,
    }
}
