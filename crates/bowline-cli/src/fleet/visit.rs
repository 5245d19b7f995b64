//! Going to many servers together.

use std::time::{Duration, Instant};

use bowline::{
    Client, Error,
    client::ClientBuilder,
    proto::client::{Backoff, Timeouts},
    transport::{CauseKind, Transport},
};
use tokio::task::JoinSet;

use crate::{
    context::Context,
    departure::Departure,
    failure::{Failure, FailureKind},
    target::{Patience, Target, settings, too_slow, trust},
    traffic,
};

/// How a visit went.
#[derive(Debug)]
pub(crate) struct Visit<T> {
    /// The name of the server.
    pub(crate) name: String,
    /// How long it took until the session was open, or that failed.
    pub(crate) opened: Duration,
    pub(crate) result: Result<T, Failure>,
}

/// How a server is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Connected,
    Unreachable,
    Unauthorized,
    TooSlow,
    Error,
}

impl State {
    pub(crate) fn of<T>(result: &Result<T, Failure>) -> Self {
        match result.as_ref().map_err(|failure| failure.kind) {
            Ok(_) => Self::Connected,
            Err(FailureKind::Unreachable) => Self::Unreachable,
            Err(FailureKind::Authorization) => Self::Unauthorized,
            Err(FailureKind::Timeout) => Self::TooSlow,
            Err(_) => Self::Error,
        }
    }

    /// The word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::TooSlow => "too slow",
            Self::Error => "error",
        }
    }
}

/// Goes to all servers together, does something at each, and comes back after
/// `limit` at the latest, with the results in the order of the servers.
pub(crate) async fn visit<T, F, W>(
    cx: &Context,
    targets: &[Target],
    limit: Duration,
    work: F,
) -> Vec<Visit<T>>
where
    T: Send + 'static,
    F: Fn(Client) -> W + Clone + Send + 'static,
    W: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let mut visits = JoinSet::new();
    for (at, target) in targets.iter().enumerate() {
        let way = way(cx, target, limit).await;
        let (name, time, work) = (target.name().to_owned(), Time::of(cx, limit), work.clone());
        visits.spawn(async move { (at, there_and_back(name, way, time, work).await) });
    }
    let mut visits = visits.join_all().await;
    visits.sort_by_key(|(at, _)| *at);
    visits.into_iter().map(|(_, visit)| visit).collect()
}

/// Goes to one server, does something there, and comes back.
pub(crate) async fn visit_one<T, F, W>(
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
    let way = way(cx, target, limit).await;
    let visit = there_and_back(name, way, Time::of(cx, limit), work);
    visit.await.result
}

type Way = Result<(ClientBuilder, Box<dyn Transport>, Departure), Failure>;

/// How long a visit may take: as long as the command, if that was said.
struct Time {
    patience: Patience,
    /// The time of the command at which it is over.
    until: Duration,
    limit: Duration,
}

impl Time {
    fn of(cx: &Context, limit: Duration) -> Self {
        let patience = cx.globals.patience.clone();
        let (until, limit) = match cx.timeout() {
            Some(whole) => (whole, whole),
            None => (patience.spent() + limit, limit),
        };
        Self {
            patience,
            until,
            limit,
        }
    }

    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let done = self.patience.until(self.until, work).await;
        done.unwrap_or_else(|| Err(too_slow(self.limit)))
    }
}

async fn way(cx: &Context, target: &Target, limit: Duration) -> Way {
    trust::admit(cx, target).await?;
    let transport = traffic::watch(target.transport(&cx.globals)?, &cx.globals)?;
    let mut settings = settings(cx, target);
    if cx.timeout().is_none() {
        settings = settings.timeouts(within(limit));
    }
    // The first attempt counts; there is no time for a second.
    if let Ok(never) = Backoff::new(limit * 2, limit * 2, 0.0) {
        settings = settings.backoff(never);
    }
    Ok((settings, transport, cx.departure.clone()))
}

/// A probe that stays unanswered must leave time for the handshake.
fn within(limit: Duration) -> Timeouts {
    Timeouts {
        opening: limit,
        probe: (limit / 2).min(Timeouts::standard().probe),
        resource: limit,
        tool: limit,
        other: limit,
        input: limit,
    }
}

async fn there_and_back<T, F, W>(name: String, way: Way, time: Time, work: F) -> Visit<T>
where
    F: FnOnce(Client) -> W,
    W: Future<Output = Result<T, Failure>>,
{
    let (settings, transport, departure) = match way {
        Ok(way) => way,
        Err(failure) => {
            return Visit {
                name,
                opened: Duration::ZERO,
                result: Err(failure),
            };
        }
    };
    let began = Instant::now();
    let client = settings.connect_later(transport);
    departure.includes(&client);
    let opening = time.within(async { client.opened().await.map_err(not_opened) });
    let opening = opening.await;
    let opened = began.elapsed();
    let result = match opening {
        Ok(()) => time.within(work(client.clone())).await,
        Err(failure) => Err(failure),
    };
    client.stop().await;
    Visit {
        name,
        opened,
        result,
    }
}

/// Why there is no session, without what the state says already.
fn not_opened(error: Error) -> Failure {
    let why = error.cause().map(|cause| match cause.kind() {
        CauseKind::Unreachable(why) => why.clone(),
        _ => cause.to_string(),
    });
    let failure = Failure::from(error);
    match why {
        Some(message) => Failure { message, ..failure },
        None => failure,
    }
}
