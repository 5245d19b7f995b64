//! Going there, and coming back in good order.

use std::time::Duration;

use bowline::{Client, client::ClientBuilder, proto::client::Timeouts};

use super::{Target, trust};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::clean,
    sign_in, signals, talk, traffic,
};

/// Connects to a server, does something with it, and lets it go, whatever
/// happens: also when the user presses Ctrl-C or the time of the command is
/// over, which cancels what is under way first.
pub(crate) async fn with_client<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    connected(cx, target, async |client| {
        let done = cx.within_time(allowed(cx, target, client, &work)).await;
        let done = done.unwrap_or_else(|late| Err(late.about(target.name())));
        // Which part of it had how much time left is of no interest.
        done.map_err(|failure| match (cx.timeout(), failure.kind) {
            (Some(limit), FailureKind::Timeout) => Failure {
                message: too_slow(limit).about(target.name()).message,
                ..failure
            },
            _ => failure,
        })
    })
    .await
}

/// The same, for what goes on until the user has had enough: only the opening
/// is timed.
pub(crate) async fn with_client_for_long<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    connected(cx, target, async |client| {
        allowed(cx, target, client, &work).await
    })
    .await
}

async fn connected<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    interruptible(trust::admit(cx, target)).await?;
    let opened = interruptible(async {
        let opened = cx.within_time(open(cx, target)).await;
        opened.unwrap_or_else(|late| Err(late.about(target.name())))
    });
    let client = opened.await?;
    let done = interruptible(work(&client)).await;
    // Its end is waited for when the result was shown.
    client.stop().await;
    done
}

/// Connects to a server, and waits until it is there. If it wants to know who
/// is asking, and the person is there to say so, they are asked to sign in.
async fn open(cx: &Context, target: &Target) -> Result<Client, Failure> {
    let mut failure = match dial(cx, target).await {
        Ok(client) => return Ok(client),
        Err(failure) => failure,
    };
    if failure.kind == FailureKind::Unreachable {
        let typed = target.typed();
        return Err(failure.hint(format!("`bowline doctor {typed}` finds out why")));
    }
    if failure.kind != FailureKind::Authorization || !sign_in::is_possible(cx, target) {
        return Err(failure);
    }
    if cx.talk.terminal().is_none() {
        let hint = format!("`bowline auth login {}` signs you in", target.typed());
        failure.hints.insert(0, hint);
        return Err(failure);
    }
    let signed_in = sign_in::sign_in(cx, target, &[]).await;
    signed_in.map_err(|failure| failure.about(target.name()))?;
    dial(cx, target).await
}

/// Does the work. If it takes more than the person has allowed so far, they are
/// asked, and it is done again: what was refused has had no effect.
async fn allowed<T>(
    cx: &Context,
    target: &Target,
    client: &Client,
    work: &impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failure = match work(client).await {
        Err(failure) if failure.kind == FailureKind::Authorization => failure,
        done => return done,
    };
    let lacking = sign_in::lacking(cx, target);
    if lacking.is_empty() {
        return Err(failure);
    }
    if cx.talk.terminal().is_none() {
        let name = target.name();
        let why = format!("{name}: this takes more than you have allowed: {lacking}");
        let hint = sign_in::how_to_allow(&target.typed(), &lacking);
        return Err(Failure::new(failure.kind, clean(&why)).hint(hint));
    }
    let signed_in = sign_in::sign_in(cx, target, &[]).await;
    signed_in.map_err(|failure| failure.about(target.name()))?;
    work(client).await
}

async fn dial(cx: &Context, target: &Target) -> Result<Client, Failure> {
    let transport = traffic::watch(target.transport(&cx.globals)?, &cx.globals)?;
    let client = settings(cx, target).connect_later(transport);
    cx.departure.includes(&client);
    match client.opened().await {
        Ok(()) => Ok(client),
        Err(error) => {
            client.stop().await;
            Err(Failure::from(error).about(target.name()))
        }
    }
}

/// The settings of a client for this server.
pub(crate) fn settings(cx: &Context, target: &Target) -> ClientBuilder {
    let mut builder = Client::builder().identity("bowline", env!("CARGO_PKG_VERSION"));
    if let Some(entry) = target.entry() {
        builder = entry.apply(builder);
    }
    if let Some(timeout) = cx.timeout() {
        builder = builder.timeouts(within(timeout));
    }
    if let Some(max_frame) = cx.globals.max_frame {
        builder = builder.max_frame(max_frame);
    }
    if let Some(revision) = cx.globals.protocol {
        builder = builder.revisions([revision]);
    }
    cx.talk.meet(target);
    talk::offer(builder, cx)
}

/// Everything within this time, but for people: they may think.
fn within(timeout: Duration) -> Timeouts {
    let standard = Timeouts::standard();
    Timeouts {
        opening: timeout,
        probe: standard.probe.min(timeout / 2),
        resource: timeout,
        tool: timeout,
        other: timeout,
        input: standard.input,
    }
}

/// It took longer than the command may.
pub(crate) fn too_slow(limit: Duration) -> Failure {
    let message = format!("it was not done within {limit:?}");
    Failure::new(FailureKind::Timeout, message).hint("give it more time with --timeout SECONDS")
}

/// Does something until it is done, the user presses Ctrl-C, or the time of the
/// command is over.
pub(crate) async fn bounded<T>(
    cx: &Context,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    interruptible(async {
        let done = cx.within_time(work).await;
        done.unwrap_or_else(Err)
    })
    .await
}

/// Does something until it is done, the user presses Ctrl-C, or the command is
/// told to end.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        signal = signals::received() => Err(signal.into()),
    }
}
