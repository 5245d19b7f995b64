//! `bowline status`.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    fleet::{Checkup, Choice, State, Visit, choose, visit},
    output::{Style, clean},
    target::{Target, interruptible},
};

/// How long a server may take to answer everything, unless said otherwise.
const LIMIT: Duration = Duration::from_secs(10);

/// Show how servers are doing: reachable or not, what they speak and offer
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline status                        all servers that you have configured
  bowline status github demo            these
  bowline status https://example.com/mcp
  bowline status -- npx -y @modelcontextprotocol/server-everything")]
pub(crate) struct Status {
    /// The servers; all that are configured, unless given
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// A command that starts a server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Status {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut choice = Choice::default();
        if self.command.is_empty() || !self.servers.is_empty() {
            choice = choose(cx, &self.servers)?;
            choice.remark(cx);
        }
        if !self.command.is_empty() {
            choice.targets.push(Target::Command(self.command));
        }
        let targets = &choice.targets;
        let limit = cx.timeout().unwrap_or(LIMIT);
        let visits = async { Ok(visit(cx, targets, limit, Checkup::of).await) };
        let visits = interruptible(visits).await?;
        if cx.json() {
            let servers: Vec<_> = visits.iter().map(document).collect();
            cx.output.json(&json!({ "servers": servers }))?;
        } else {
            for visit in &visits {
                cx.output.line(block(cx, visit))?;
            }
        }
        choice.verdict_of_all(verdict(targets, visits))
    }
}

/// One server, for people.
fn block(cx: &Context, visit: &Visit<Checkup>) -> String {
    let paint = cx.output.paint();
    let name = paint.strong(clean(&visit.name));
    let state = State::of(&visit.result);
    let ms = visit.opened.as_secs_f64() * 1000.0;
    match &visit.result {
        Ok(checkup) => {
            let rows = [
                ("server", checkup.identity()),
                ("protocol", checkup.protocol()),
                ("offers", Some(checkup.offers())),
                ("round trip", Some(milliseconds(checkup.round_trip))),
            ];
            let mark = paint.text(Style::Good, "✓");
            let head = format!("{mark} {name}: {} in {ms:.0} ms", state.word());
            let rows = rows.into_iter().filter_map(|(what, value)| {
                let what = paint.faint(format!("{what:<11}"));
                Some(format!("\n    {what} {}", value?))
            });
            rows.fold(head, |text, row| text + &row)
        }
        Err(failure) => {
            let mark = paint.text(Style::Bad, "✗");
            let why = clean(&failure.message).replace('\n', "\n    ");
            format!("{mark} {name}: {}\n    {why}", state.word())
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// One server, for programs.
fn document(visit: &Visit<Checkup>) -> Value {
    let state = State::of(&visit.result).word();
    let mut document = match &visit.result {
        Ok(checkup) => checkup.json(),
        Err(failure) => json!({ "error": failure.message }),
    };
    document["name"] = json!(visit.name);
    document["state"] = json!(state);
    document["opened_ms"] = json!(visit.opened.as_secs_f64() * 1000.0);
    document
}

/// All is well only if all servers are.
fn verdict(targets: &[Target], visits: Vec<Visit<Checkup>>) -> Option<Failure> {
    let all = visits.len();
    let failed = targets.iter().zip(visits).filter_map(|(target, visit)| {
        let failure = visit.result.err()?;
        Some((target, failure.kind))
    });
    let failed: Vec<(&Target, FailureKind)> = failed.collect();
    let (target, kind) = failed.first()?;
    let name = clean(target.name());
    let message = match (failed.len(), all) {
        (1, 1) => format!("{name} does not work"),
        (1, _) => format!("{name} does not work, the others do"),
        (count, _) => format!("{count} of {all} servers do not work"),
    };
    let advice = format!("bowline doctor {} finds out why", target.typed());
    Some(Failure::new(*kind, message).hint(advice))
}
