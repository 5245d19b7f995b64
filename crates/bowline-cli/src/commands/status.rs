//! `bowline status`.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    fleet::{HealthCheck, SelectedServers, ServerResult, ServerState, run_on_all, select},
    output::{Style, escape_control},
    target::{Target, interruptible},
};

/// Default time in which a server must respond to everything.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Check servers: reachability, protocol revision, and what they offer
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline status                        all configured servers
  bowline status github demo            only these
  bowline status https://example.com/mcp
  bowline status -- npx -y @modelcontextprotocol/server-everything")]
pub(crate) struct Status {
    /// The servers; defaults to all configured servers
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Command that starts a server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Status {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut selected = SelectedServers::default();
        if self.command.is_empty() || !self.servers.is_empty() {
            selected = select(cx, &self.servers)?;
            selected.warn_untrusted(cx);
        }
        if !self.command.is_empty() {
            selected.targets.push(Target::Command(self.command));
        }
        let targets = &selected.targets;
        let timeout = cx.timeout().unwrap_or(DEFAULT_TIMEOUT);
        let results = async { Ok(run_on_all(cx, targets, timeout, HealthCheck::run).await) };
        let results = interruptible(results).await?;
        if cx.json() {
            let servers: Vec<_> = results.iter().map(to_json).collect();
            cx.output.json(&json!({ "servers": servers }))?;
        } else {
            for result in &results {
                cx.output.line(format_result(cx, result))?;
            }
        }
        selected.require_all(combined_failure(targets, results))
    }
}

/// Formats the result of one server as text.
fn format_result(cx: &Context, result: &ServerResult<HealthCheck>) -> String {
    let paint = cx.output.paint();
    let name = paint.bold(escape_control(&result.name));
    let state = ServerState::from_result(&result.result);
    let ms = result.open_time.as_secs_f64() * 1000.0;
    match &result.result {
        Ok(health) => {
            let rows = [
                ("server", health.identity()),
                ("protocol", health.protocol()),
                ("offers", Some(health.offers())),
                ("round trip", Some(milliseconds(health.round_trip))),
            ];
            let mark = paint.text(Style::Success, "✓");
            let heading = format!("{mark} {name}: {} in {ms:.0} ms", state.as_str());
            let rows = rows.into_iter().filter_map(|(label, value)| {
                let label = paint.dim(format!("{label:<11}"));
                Some(format!("\n    {label} {}", value?))
            });
            rows.fold(heading, |text, row| text + &row)
        }
        Err(failure) => {
            let mark = paint.text(Style::Error, "✗");
            let why = escape_control(&failure.message).replace('\n', "\n    ");
            format!("{mark} {name}: {}\n    {why}", state.as_str())
        }
    }
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

/// Formats the result of one server as JSON.
fn to_json(result: &ServerResult<HealthCheck>) -> Value {
    let state = ServerState::from_result(&result.result).as_str();
    let mut document = match &result.result {
        Ok(health) => health.json(),
        Err(failure) => json!({ "error": failure.message }),
    };
    document["name"] = json!(result.name);
    document["state"] = json!(state);
    document["opened_ms"] = json!(result.open_time.as_secs_f64() * 1000.0);
    document
}

/// Returns a failure unless all servers work.
fn combined_failure(
    targets: &[Target],
    results: Vec<ServerResult<HealthCheck>>,
) -> Option<Failure> {
    let all = results.len();
    let failed = targets.iter().zip(results).filter_map(|(target, result)| {
        let failure = result.result.err()?;
        Some((target, failure.kind))
    });
    let failed: Vec<(&Target, FailureKind)> = failed.collect();
    let (target, kind) = failed.first()?;
    let name = escape_control(target.name());
    let message = match (failed.len(), all) {
        (1, 1) => format!("{name} does not work"),
        (1, _) => format!("{name} does not work; the others do"),
        (count, _) => format!("{count} of {all} servers do not work"),
    };
    let advice = format!(
        "run `bowline doctor {}` to find out why",
        target.to_shell_args()
    );
    Some(Failure::new(*kind, message).hint(advice))
}
