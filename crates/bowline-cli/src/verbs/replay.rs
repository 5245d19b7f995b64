//! `bowline replay`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean},
    target::{self, ServerArgs, Target},
    traffic::{self, Findings, Replayable, Rules, Verdict},
};

/// How long one answer may take unless --timeout says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a value is shown.
const SHOWN: usize = 200;

/// Serve a recording, or check a server against it
#[derive(Args, Debug)]
#[command(after_help = "\
Recordings are made with --record FILE, by any command that speaks with a server.

Examples:
  bowline replay talk.jsonl                          what is in it
  bowline replay talk.jsonl --serve                  answer as the recorded server did
  bowline list -- bowline replay talk.jsonl --serve  the same, asked by bowline
  bowline replay talk.jsonl --check time             ask it all again, and compare
  bowline replay talk.jsonl --check time --ignore content[*].text

Calls of tools that are not marked read-only or idempotent are not made again
without --all. What differs by nature does not count: ids, _meta, requestState
and the server's version.")]
pub(crate) struct Replay {
    /// The recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Answer as the recorded server did
    #[arg(long, conflicts_with = "check")]
    serve: bool,
    /// Serve the program that started this one (this is the default)
    #[arg(long, requires = "serve", conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP at an address or port of this machine
    #[arg(long, value_name = "ADDRESS", requires = "serve")]
    http: Option<String>,
    /// Make the recorded requests again, and compare the results
    #[arg(long)]
    check: bool,
    /// With --check: also call tools that may have effects
    #[arg(long, requires = "check")]
    all: bool,
    /// With --check: a place that may differ, such as content[0].text; may be repeated
    #[arg(long, value_name = "PATH", requires = "check")]
    ignore: Vec<String>,
    /// With --check: the server, by name or URL, or `demo`
    #[arg(value_name = "SERVER", requires = "check")]
    server: Option<String>,
    /// With --check: a command that starts the server
    #[arg(last = true, value_name = "COMMAND", requires = "check")]
    command: Vec<String>,
}

impl Replay {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let recording = Replayable::load(&self.file)?;
        if self.check {
            return self.check(cx, recording).await;
        }
        match (self.serve, &self.http) {
            (true, Some(address)) => recording.serve_http(cx, address).await,
            (true, None) => recording.serve_stdio(cx).await,
            (false, _) => show(cx, &recording),
        }
    }

    async fn check(self, cx: &Context, recording: Replayable) -> Result<(), Failure> {
        if self.server.is_none() && self.command.is_empty() {
            return Err(Failure::usage("which server is to be checked?")
                .hint("name one after --check, or put a command after `--`"));
        }
        let server = ServerArgs {
            server: self.server,
            command: self.command,
        };
        let target = server.target(cx)?;
        let rules = Rules {
            all: self.all,
            ignore: self.ignore,
            patience: cx.timeout().unwrap_or(PATIENCE),
            revision: recording.known_revision(),
            departure: cx.departure.clone(),
        };
        target::interruptible(target::trust::admit(cx, &target)).await?;
        let findings = target::bounded(cx, compare(cx, &recording, &target, &rules)).await?;
        report(cx, &target, &findings)
    }
}

async fn compare(
    cx: &Context,
    recording: &Replayable,
    target: &Target,
    rules: &Rules,
) -> Result<Findings, Failure> {
    let transport = traffic::watch(target.transport(&cx.globals)?, &cx.globals)?;
    let told = recording.check(transport, rules, |checked| {
        if cx.json() {
            return Ok(());
        }
        for line in lines(cx, &checked.label, &checked.verdict) {
            cx.output.line(line)?;
        }
        Ok(())
    });
    told.await.map_err(|failure| failure.about(target.name()))
}

fn lines(cx: &Context, label: &str, verdict: &Verdict) -> Vec<String> {
    let (paint, label) = (cx.output.paint(), clean(label));
    match verdict {
        Verdict::Same => vec![format!("{} {label}", paint.text(Style::Good, "same     "))],
        Verdict::Skipped(why) => {
            let why = paint.faint(format!("({why})"));
            vec![format!("{} {label} {why}", paint.faint("skipped  "))]
        }
        Verdict::Different(found) => {
            let mut lines = vec![format!("{} {label}", paint.text(Style::Bad, "different"))];
            for it in found {
                lines.push(format!("    {}", paint.strong(clean(&it.path))));
                lines.push(format!("      was {}", shown(it.was.as_ref())));
                lines.push(format!("      is  {}", shown(it.is.as_ref())));
            }
            lines
        }
    }
}

/// A value, short enough for a line.
fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    let text = clean(&text);
    match text.char_indices().nth(SHOWN) {
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
            cx.output.remark(format!("note: {note}"));
        }
        let skipped = match skipped {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        cx.output
            .line(format!("{same} the same, {different} different{skipped}"))?;
    }
    let name = target.name();
    if same + different == 0 {
        let why = format!("nothing of the recording could be compared with {name}");
        return Err(Failure::failed(why));
    }
    if different == 0 {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "{name} does not answer as it was recorded"
    )))
}

fn as_json(checked: &traffic::Checked) -> Value {
    let request = &checked.label;
    match &checked.verdict {
        Verdict::Same => json!({"request": request, "verdict": "same"}),
        Verdict::Skipped(why) => json!({"request": request, "verdict": "skipped", "why": why}),
        Verdict::Different(found) => {
            let found: Vec<Value> = found
                .iter()
                .map(|it| json!({"path": it.path, "was": it.was, "is": it.is}))
                .collect();
            json!({"request": request, "verdict": "different", "differences": found})
        }
    }
}

/// Shows what is in a recording.
fn show(cx: &Context, recording: &Replayable) -> Result<(), Failure> {
    let lines = recording.lines();
    if cx.json() {
        let requests: Vec<Value> = lines
            .iter()
            .map(|line| json!({"request": line.label, "ended": line.ended}))
            .collect();
        return cx.output.json(&json!({
            "server": recording.server,
            "revision": recording.revision,
            "requests": requests,
        }));
    }
    let paint = cx.output.paint();
    let revision = recording.revision.as_deref().unwrap_or("no revision");
    let head = format!("{}, {revision}", recording.server);
    cx.output.line(paint.strong(clean(&head)))?;
    for line in &lines {
        let (ended, label) = (format!("{:<9}", line.ended), clean(&line.label));
        let ended = match line.ended {
            "ok" => paint.text(Style::Good, ended),
            "error" | "failed" | "no answer" => paint.text(Style::Bad, ended),
            _ => paint.faint(ended),
        };
        cx.output.line(format!("{ended} {label}"))?;
    }
    cx.output
        .remark("`--serve` answers from it; `--check SERVER` asks it all again");
    Ok(())
}
