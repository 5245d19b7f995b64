//! Diagnosing a server, layer by layer.
//!
//! `report` collects and prints the findings. `configuration` checks the entry,
//! `command` the program to start, `network` the path to a URL, `session` the
//! opening and what the server offers. `opening` observes the opening,
//! `schemas` checks tool definitions, and `advice` says what to do.

mod advice;
mod command;
mod configuration;
mod network;
mod opening;
mod report;
mod schemas;
mod session;

use bowline::config::Endpoint;

use self::report::Report;
use crate::{
    context::Context,
    failure::Failure,
    target::{Target, interruptible, trust},
};

/// The layers of a local server, in order.
const PROCESS_LAYERS: &[&str] = &[
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

/// The layers of a remote server, in order.
const REMOTE_LAYERS: &[&str] = &[
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

/// Examines a server and reports the findings. The first layer that fails
/// explains the rest.
pub(crate) async fn examine(cx: &Context, target: Result<Target, Failure>) -> Result<(), Failure> {
    let target = match target {
        Ok(target) => target,
        Err(failure) => return report_unusable_target(cx, failure),
    };
    let trusted = interruptible(trust::ensure_trusted(cx, &target)).await;
    if let Err(failure) = trusted.and_then(|()| target.check_headers(&cx.globals)) {
        return report_unusable_target(cx, failure);
    }
    let is_local = is_local_process(&target);
    let mut report = Report::new(
        cx,
        target.name(),
        if is_local {
            PROCESS_LAYERS
        } else {
            REMOTE_LAYERS
        },
    );
    // A failed layer ends the examination; the report knows which one.
    let _ = examine_layers(cx, &target, &mut report).await;
    report.finish()
}

async fn examine_layers(
    cx: &Context,
    target: &Target,
    report: &mut Report<'_>,
) -> Result<(), report::Stopped> {
    configuration::examine(cx, target, report)?;
    if is_local_process(target) {
        command::examine(target, report)?;
    } else {
        network::examine(cx, target, report).await?;
    }
    session::examine(cx, target, report).await
}

/// Returns whether the server is a local process, or part of this one.
fn is_local_process(target: &Target) -> bool {
    match target {
        Target::Demo | Target::Command(_) => true,
        Target::Url(_) => false,
        Target::Configured(found) => matches!(found.entry.endpoint, Endpoint::Stdio(_)),
    }
}

/// Reports a server that is not configured, or whose entry cannot be used.
fn report_unusable_target(cx: &Context, failure: Failure) -> Result<(), Failure> {
    let mut report = Report::new(cx, "", PROCESS_LAYERS);
    let _ = report.failed("configuration", None, failure);
    report.finish()
}
