//! Going there, and coming back in good order.

use std::time::Duration;

use bowline::{Client, client::ClientBuilder, proto::client::Timeouts};

use super::Target;
use crate::{context::Context, failure::Failure, talk, traffic};

/// Connects to a server, does something with it, and lets it go, whatever
/// happens: also when the user presses Ctrl-C, which cancels what is under way
/// first.
pub(crate) async fn with_client<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let client = interruptible(open(cx, target)).await?;
    let done = interruptible(work(&client)).await;
    client.stop().await;
    done
}

/// Connects to a server, and waits until it is there.
pub(crate) async fn open(cx: &Context, target: &Target) -> Result<Client, Failure> {
    let transport = traffic::watch(target.transport(&cx.globals)?, &cx.globals)?;
    let client = settings(cx, target).connect(transport).await;
    client.map_err(|error| Failure::from(error).about(target.name()))
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
    if let Some(revision) = cx.globals.protocol {
        builder = builder.revisions([revision]);
    }
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

/// Does something until it is done, or the user presses Ctrl-C.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
    }
}
