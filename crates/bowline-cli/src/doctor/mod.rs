//! Finding out, layer by layer, what is wrong with a server.
//!
//! `chart` is what is found, step by step. `entry` looks at the configuration,
//! `command` at the program to start, `network` at the way to an address,
//! `session` at the opening and at what the server offers. `heard` listens to
//! the opening, `schemas` judges tools, and `advice` knows what to do.

mod advice;
mod chart;
mod command;
mod entry;
mod heard;
mod network;
mod schemas;
mod session;

use bowline::config::Endpoint;

use self::chart::Chart;
use crate::{
    context::Context,
    failure::Failure,
    target::{Target, interruptible, trust},
};

/// The layers of a server that is started here, in order.
const STARTED: &[&str] = &[
    "configuration",
    "command",
    "start",
    "session",
    "capabilities",
    "tools",
    "resources",
    "templates",
    "prompts",
    "schemas",
    "round trip",
    "standard error",
];

/// The layers of a server behind an address.
const REMOTE: &[&str] = &[
    "configuration",
    "address",
    "name",
    "connection",
    "TLS",
    "HTTP",
    "session",
    "capabilities",
    "tools",
    "resources",
    "templates",
    "prompts",
    "schemas",
    "round trip",
];

/// Examines a server, and says what it finds. The first layer that fails
/// explains the rest.
pub(crate) async fn examine(cx: &Context, target: Result<Target, Failure>) -> Result<(), Failure> {
    let target = match target {
        Ok(target) => target,
        Err(failure) => return unknown(cx, failure),
    };
    let admitted = interruptible(trust::admit(cx, &target)).await;
    if let Err(failure) = admitted.and_then(|()| target.check_headers(&cx.globals)) {
        return unknown(cx, failure);
    }
    let started = is_started(&target);
    let mut chart = Chart::new(cx, target.name(), if started { STARTED } else { REMOTE });
    // A layer that fails ends the examination; the chart knows which.
    let _ = layers(cx, &target, &mut chart).await;
    chart.finish()
}

async fn layers(cx: &Context, target: &Target, chart: &mut Chart<'_>) -> Result<(), chart::Ended> {
    entry::examine(cx, target, chart)?;
    if is_started(target) {
        command::examine(target, chart)?;
    } else {
        network::examine(cx, target, chart).await?;
    }
    session::examine(cx, target, chart).await
}

/// Whether the server is a process that is started here, or part of this one.
fn is_started(target: &Target) -> bool {
    match target {
        Target::Demo | Target::Command(_) => true,
        Target::Url(_) => false,
        Target::Configured(found) => matches!(found.entry.endpoint, Endpoint::Stdio(_)),
    }
}

/// The server is in no configuration, or its entry cannot be used.
fn unknown(cx: &Context, failure: Failure) -> Result<(), Failure> {
    let mut chart = Chart::new(cx, "", STARTED);
    let _ = chart.failed("configuration", None, failure);
    chart.finish()
}
