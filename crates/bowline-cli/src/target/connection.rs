//! Connecting to servers and disconnecting cleanly.

use std::time::Duration;

use bowline::{Client, Timeouts, client::ClientBuilder};

use super::{Target, trust};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    interaction,
    output::escape_control,
    sign_in, signals, traffic,
};

/// Connects to a server, runs `work` with it, and disconnects in every case:
/// also on Ctrl-C or timeout, which first cancel calls in flight.
pub(crate) async fn with_client<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run_connected(cx, target, async |client| {
        let result = cx
            .with_timeout(retry_with_scopes(cx, target, client, &work))
            .await;
        let result = result
            .unwrap_or_else(|timeout_failure| Err(timeout_failure.with_prefix(target.name())));
        // Reports the command's limit, not what was left of it for one part.
        result.map_err(|failure| match (cx.timeout(), failure.kind) {
            (Some(limit), FailureKind::Timeout) => Failure {
                message: timed_out(limit).with_prefix(target.name()).message,
                ..failure
            },
            _ => failure,
        })
    })
    .await
}

/// Like `with_client`, for commands that run until the user stops them: only
/// opening is timed.
pub(crate) async fn with_long_lived_client<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run_connected(cx, target, async |client| {
        retry_with_scopes(cx, target, client, &work).await
    })
    .await
}

async fn run_connected<T>(
    cx: &Context,
    target: &Target,
    work: impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    interruptible(trust::ensure_trusted(cx, target)).await?;
    let opened = interruptible(async {
        let opened = cx.with_timeout(open(cx, target)).await;
        opened.unwrap_or_else(|timeout_failure| Err(timeout_failure.with_prefix(target.name())))
    });
    let client = opened.await?;
    let result = interruptible(work(&client)).await;
    // Its exit is waited for after the result is printed.
    client.stop().await;
    result
}

/// Connects to a server and waits until the session is open. If the server
/// requires authorization and the command is interactive, asks the user to sign
/// in.
async fn open(cx: &Context, target: &Target) -> Result<Client, Failure> {
    let mut failure = match dial(cx, target).await {
        Ok(client) => return Ok(client),
        Err(failure) => failure,
    };
    if failure.kind == FailureKind::Unreachable {
        let shell_args = target.to_shell_args();
        return Err(failure.hint(format!("run `bowline doctor {shell_args}` to find out why")));
    }
    if failure.kind != FailureKind::Authorization || !sign_in::can_sign_in(cx, target) {
        return Err(failure);
    }
    if cx.responder.terminal().is_none() {
        let hint = format!(
            "sign in with `bowline auth login {}`",
            target.to_shell_args()
        );
        failure.hints.insert(0, hint);
        return Err(failure);
    }
    let signed_in = sign_in::sign_in(cx, target, &[]).await;
    signed_in.map_err(|failure| failure.with_prefix(target.name()))?;
    dial(cx, target).await
}

/// Runs `work`. If it needs scopes that the user has not granted, asks for them
/// and runs it again: a refused request has had no effect.
async fn retry_with_scopes<T>(
    cx: &Context,
    target: &Target,
    client: &Client,
    work: &impl AsyncFn(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failure = match work(client).await {
        Err(failure) if failure.kind == FailureKind::Authorization => failure,
        result => return result,
    };
    let missing_scopes = sign_in::missing_scopes(cx, target);
    if missing_scopes.is_empty() {
        return Err(failure);
    }
    if cx.responder.terminal().is_none() {
        let name = target.name();
        let why = format!("{name}: this requires additional scopes: {missing_scopes}");
        let hint = sign_in::scope_hint(&target.to_shell_args(), &missing_scopes);
        return Err(Failure::new(failure.kind, escape_control(&why)).hint(hint));
    }
    let signed_in = sign_in::sign_in(cx, target, &[]).await;
    signed_in.map_err(|failure| failure.with_prefix(target.name()))?;
    work(client).await
}

async fn dial(cx: &Context, target: &Target) -> Result<Client, Failure> {
    let transport = traffic::observe_transport(target.transport(&cx.globals)?, &cx.globals)?;
    let client = client_builder(cx, target).connect_in_background(transport);
    cx.shutdown.register(&client);
    match client.wait_first_attempt().await {
        Ok(()) => Ok(client),
        Err(error) => {
            client.stop().await;
            Err(Failure::from(error).with_prefix(target.name()))
        }
    }
}

/// Returns a client builder for this server.
pub(crate) fn client_builder(cx: &Context, target: &Target) -> ClientBuilder {
    let mut builder = Client::builder().client_info("bowline", env!("CARGO_PKG_VERSION"));
    if let Some(entry) = target.entry() {
        builder = entry.apply(builder);
    }
    if let Some(timeout) = cx.timeout() {
        builder = builder.timeouts(timeouts_for(timeout));
    }
    if let Some(max_frame) = cx.globals.max_frame {
        builder = builder.max_frame_size(max_frame);
    }
    if let Some(revision) = cx.globals.protocol {
        builder = builder.revisions([revision]);
    }
    if let Some(reviewed) = &cx.globals.reviewed {
        // Of a server that was not reviewed, no tool was.
        let server = reviewed.servers.get(target.name()).cloned();
        builder = builder.pinned(server.unwrap_or_default());
    }
    cx.responder.set_target(target);
    interaction::declare_capabilities(builder, cx)
}

/// Applies the limit to everything except waiting for people.
fn timeouts_for(timeout: Duration) -> Timeouts {
    let standard = Timeouts::standard();
    Timeouts {
        connect: timeout,
        probe: standard.probe.min(timeout / 2),
        resource: timeout,
        tool: timeout,
        other: timeout,
        input: standard.input,
    }
}

/// Returns the failure for an expired command timeout.
pub(crate) fn timed_out(limit: Duration) -> Failure {
    let message = format!("timed out after {limit:?}");
    Failure::new(FailureKind::Timeout, message).hint("raise the limit with --timeout SECONDS")
}

/// Runs a future until it completes, the user presses Ctrl-C, or the command's
/// timeout expires.
pub(crate) async fn with_limits<T>(
    cx: &Context,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    interruptible(async {
        let result = cx.with_timeout(work).await;
        result.unwrap_or_else(Err)
    })
    .await
}

/// Runs a future until it completes, the user presses Ctrl-C, or the process is
/// terminated.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        result = work => result,
        signal = signals::received() => Err(signal.into()),
    }
}
