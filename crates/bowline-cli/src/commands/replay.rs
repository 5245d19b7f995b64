//! `bowline replay`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    output::{Style, escape_control},
    target::{self, ServerArgs, Target},
    traffic::{self, CheckOptions, Findings, LoadedRecording, Verdict},
};

/// Default time limit of one response.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of characters shown of a value.
const MAX_VALUE_CHARS: usize = 200;

/// Serve a recording, or compare a server with it
#[derive(Args, Debug)]
#[command(after_help = "\
Any command that talks to a server makes a recording with --record FILE.

Examples:
  bowline replay session.jsonl                          show what it contains
  bowline replay session.jsonl --serve                  respond as the recorded server did
  bowline list -- bowline replay session.jsonl --serve  the same, with bowline as the client
  bowline replay session.jsonl --check time             repeat the requests and compare
  bowline replay session.jsonl --check time --ignore content[*].text

Calls of tools that are not marked read-only or idempotent are repeated only with
--all. Values that always differ are ignored: ids, _meta, requestState and the
server's version.")]
pub(crate) struct Replay {
    /// The recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Respond as the recorded server did
    #[arg(long, conflicts_with = "check")]
    serve: bool,
    /// Serve over standard input and output (default)
    #[arg(long, requires = "serve", conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP on a local address or port
    #[arg(long, value_name = "ADDRESS", requires = "serve")]
    http: Option<String>,
    /// Repeat the recorded requests and compare the results
    #[arg(long)]
    check: bool,
    /// With --check: also call tools that may have side effects
    #[arg(long, requires = "check")]
    all: bool,
    /// With --check: ignore differences here, for example content[0].text; may
    /// be repeated
    #[arg(long, value_name = "PATH", requires = "check")]
    ignore: Vec<String>,
    /// With --check: the server, by name or URL, or `demo`
    #[arg(value_name = "SERVER", requires = "check")]
    server: Option<String>,
    /// With --check: command that starts the server
    #[arg(last = true, value_name = "COMMAND", requires = "check")]
    command: Vec<String>,
}

impl Replay {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let recording = LoadedRecording::load(&self.file)?;
        if self.check {
            return self.check(cx, recording).await;
        }
        match (self.serve, &self.http) {
            (true, Some(address)) => recording.serve_http(cx, address).await,
            (true, None) => recording.serve_stdio(cx).await,
            (false, _) => print_requests(cx, &recording),
        }
    }

    async fn check(self, cx: &Context, recording: LoadedRecording) -> Result<(), Failure> {
        if self.server.is_none() && self.command.is_empty() {
            return Err(Failure::usage("no server to check")
                .hint("name one after --check, or put a command after `--`"));
        }
        let server = ServerArgs {
            server: self.server,
            command: self.command,
        };
        let target = server.target(cx)?;
        let options = CheckOptions {
            all: self.all,
            ignore: self.ignore,
            timeout: cx.timeout().unwrap_or(DEFAULT_TIMEOUT),
            revision: recording.known_revision(),
            shutdown: cx.shutdown.clone(),
        };
        target::interruptible(target::trust::ensure_trusted(cx, &target)).await?;
        let findings = target::with_limits(cx, compare(cx, &recording, &target, &options)).await?;
        report(cx, &target, &findings)
    }
}

async fn compare(
    cx: &Context,
    recording: &LoadedRecording,
    target: &Target,
    options: &CheckOptions,
) -> Result<Findings, Failure> {
    let transport = traffic::observe_transport(target.transport(&cx.globals)?, &cx.globals)?;
    let checking = recording.check(transport, options, |checked| {
        if cx.json() {
            return Ok(());
        }
        for line in verdict_lines(cx, &checked.label, &checked.verdict) {
            cx.output.line(line)?;
        }
        Ok(())
    });
    checking
        .await
        .map_err(|failure| failure.with_prefix(target.name()))
}

fn verdict_lines(cx: &Context, label: &str, verdict: &Verdict) -> Vec<String> {
    let (paint, label) = (cx.output.paint(), escape_control(label));
    match verdict {
        Verdict::Same => vec![format!(
            "{} {label}",
            paint.text(Style::Success, "same     ")
        )],
        Verdict::Skipped(why) => {
            let why = paint.dim(format!("({why})"));
            vec![format!("{} {label} {why}", paint.dim("skipped  "))]
        }
        Verdict::Different(differences) => {
            let mut lines = vec![format!("{} {label}", paint.text(Style::Error, "different"))];
            for it in differences {
                lines.push(format!("    {}", paint.bold(escape_control(&it.path))));
                lines.push(format!("      was {}", format_value(it.recorded.as_ref())));
                lines.push(format!("      is  {}", format_value(it.actual.as_ref())));
            }
            lines
        }
    }
}

/// Formats a value, shortened to fit on a line.
fn format_value(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    let text = escape_control(&text);
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn report(cx: &Context, target: &Target, findings: &Findings) -> Result<(), Failure> {
    let (same, different, skipped) = findings.counts();
    if cx.json() {
        let checked: Vec<Value> = findings.checked.iter().map(as_json).collect();
        cx.output.json(&json!({
            "same": same,
            "different": different,
            "skipped": skipped,
            "notes": findings.notes,
            "requests": checked,
        }))?;
    } else {
        for note in &findings.notes {
            cx.output.note(format!("note: {note}"));
        }
        let skipped = match skipped {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        cx.output
            .line(format!("{same} equal, {different} different{skipped}"))?;
    }
    let name = target.name();
    if same + different == 0 {
        let why = format!("no recorded request could be compared with {name}");
        return Err(Failure::failed(why));
    }
    if different == 0 {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "{name} does not respond as recorded"
    )))
}

fn as_json(checked: &traffic::CheckedRequest) -> Value {
    let request = &checked.label;
    match &checked.verdict {
        Verdict::Same => json!({"request": request, "verdict": "same"}),
        Verdict::Skipped(why) => json!({"request": request, "verdict": "skipped", "why": why}),
        Verdict::Different(differences) => {
            let differences: Vec<Value> = differences
                .iter()
                .map(|it| json!({"path": it.path, "was": it.recorded, "is": it.actual}))
                .collect();
            json!({"request": request, "verdict": "different", "differences": differences})
        }
    }
}

/// Prints the contents of a recording.
fn print_requests(cx: &Context, recording: &LoadedRecording) -> Result<(), Failure> {
    let lines = recording.request_summaries();
    if cx.json() {
        let requests: Vec<Value> = lines
            .iter()
            .map(|line| json!({"request": line.label, "ended": line.outcome}))
            .collect();
        return cx.output.json(&json!({
            "server": recording.server,
            "revision": recording.revision,
            "requests": requests,
        }));
    }
    let paint = cx.output.paint();
    let revision = recording.revision.as_deref().unwrap_or("unknown revision");
    let heading = format!("{}, {revision}", recording.server);
    cx.output.line(paint.bold(escape_control(&heading)))?;
    for line in &lines {
        let (outcome, label) = (format!("{:<9}", line.outcome), escape_control(&line.label));
        let outcome = match line.outcome {
            "ok" => paint.text(Style::Success, outcome),
            "error" | "failed" | "no answer" => paint.text(Style::Error, outcome),
            _ => paint.dim(outcome),
        };
        cx.output.line(format!("{outcome} {label}"))?;
    }
    cx.output.note(
        "use --serve to respond from it, or --check SERVER to repeat the requests and \
         compare",
    );
    Ok(())
}
