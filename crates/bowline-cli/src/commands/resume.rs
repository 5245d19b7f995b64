//! `bowline resume`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::call;
use crate::{
    context::Context,
    failure::Failure,
    interaction::{self, CallStore, StoredCall},
    output::SaveArgs,
    target,
};

/// Resume a suspended call, answering its questions
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline resume                                 list suspended calls
  bowline resume brave-otter-12                  answer its questions in the terminal
  bowline resume brave-otter-12 seat=12A bags=1  answer directly
  bowline resume brave-otter-12 @answers.json    answer from a file
  bowline resume brave-otter-12 --discard        discard the call

The answers after the name are for the questions the call has already asked. Answer
later questions with --answer FIELD=VALUE, as with `bowline call`.

The call resumes at the same server, started in the same folder. If that server's
entry has changed since, nothing is sent.")]
pub(crate) struct Resume {
    /// The name the call was given when it was suspended
    pub(super) id: Option<String>,
    /// Answers to its questions: FIELD=VALUE, QUESTION.FIELD=VALUE or @FILE
    #[arg(value_name = "FIELD=VALUE", value_parser = interaction::parse_answer)]
    pub(super) answers: Vec<interaction::AnswerWord>,
    /// Discard the call without notifying the server
    #[arg(long, requires = "id", conflicts_with = "answers")]
    pub(super) discard: bool,
    #[command(flatten)]
    pub(super) save: SaveArgs,
}

impl Resume {
    pub(crate) async fn run(mut self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let store = CallStore::open()?;
        let Some(id) = self.id else {
            let mut all = store.list();
            // A task that has no questions is waited for, not resumed.
            all.retain(|stored| stored.task().is_none() || !stored.questions().is_empty());
            return list(cx, &all);
        };
        let stored = store.get(&id)?;
        if self.discard {
            store.remove(&id)?;
            cx.output.note(format!("discarded {id}"));
            return Ok(());
        }
        // Resolved before the current directory changes.
        self.save.out = self.save.out.as_deref().map(absolute);
        let questions = stored.questions();
        let answers = interaction::read_answers(&self.answers, cx.time_left())?;
        let answers =
            interaction::match_to_questions(&answers, questions, |key| stored.is_open(key))
                .map_err(|failure| {
                    failure.hint(format!("resume with: {}", stored.command_line()))
                })?;
        let cx = &resumed_context(cx, &stored, answers)?;
        let target = stored.target(cx)?;
        let tool = stored.tool.clone();
        let server = stored.name.clone();
        let what = format!("{server}.{tool}");
        let outcome = target::with_client(cx, &target, async |client| {
            // Read again, in case this is not the first attempt.
            let outcome = interaction::resume(cx, client, store.get(&id)?).await;
            outcome.map_err(|failure| failure.with_prefix(&what))
        });
        call::print_outcome(cx, &server, &tool, outcome.await?, &self.save)
    }
}

/// Returns the context in which the call was suspended, with the new answers.
pub(super) fn resumed_context(
    cx: &Context,
    stored: &StoredCall,
    answers: Vec<interaction::Answers>,
) -> Result<Context, Failure> {
    let mut globals = cx.globals.clone();
    globals.record = globals.record.as_deref().map(absolute);
    globals.interaction.root = globals
        .interaction
        .root
        .iter()
        .map(|root| absolute(root))
        .collect();
    globals.interaction.suspended_answers = answers;
    // A project's file is found again in that directory, and must be trusted
    // again.
    let is_user_file = |path: &PathBuf| !target::is_project_file(path, stored.folder());
    globals.config = stored.config().filter(is_user_file).or(globals.config);
    globals.protocol = stored.revision().or(globals.protocol);
    stored.enter_folder()?;
    Ok(cx.with_globals(globals))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn list(cx: &Context, all: &[StoredCall]) -> Result<(), Failure> {
    if cx.json() {
        let all: Vec<_> = all
            .iter()
            .map(|stored| {
                json!({
                    "suspended": stored.id,
                    "server": stored.name,
                    "tool": stored.tool,
                    "questions": stored.questions(),
                    "resume": stored.command_line(),
                })
            })
            .collect();
        return cx.output.json(&all);
    }
    if all.is_empty() {
        cx.output.note("no suspended calls");
    }
    let paint = cx.output.paint();
    for stored in all {
        let what = format!("{} of {}", stored.tool, stored.name);
        let what = interaction::one_line(&what);
        let age = paint.dim(format_age(stored.age().as_secs()));
        cx.output
            .line(format!("{}  {what}, {age}", paint.bold(&stored.id)))?;
        cx.output.line(format!("  {}", stored.command_line()))?;
    }
    Ok(())
}

/// Formats an elapsed time in its largest unit.
pub(super) fn format_age(seconds: u64) -> String {
    let (number, unit) = match seconds {
        0..2 => return "just now".to_owned(),
        2..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}
