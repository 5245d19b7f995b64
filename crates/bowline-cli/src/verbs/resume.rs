//! `bowline resume`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::call;
use crate::{
    context::Context,
    failure::Failure,
    output::SaveArgs,
    talk::{self, Parked, Shelf},
    target,
};

/// Go on with a call that waits for answers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline resume                                 list the calls that wait
  bowline resume brave-otter-12                  be asked, in a terminal
  bowline resume brave-otter-12 seat=12A bags=1  answer at once
  bowline resume brave-otter-12 @answers.json    answer from a file
  bowline resume brave-otter-12 --discard        forget the call

What stands behind the name answers what the call has asked. What it may ask
afterwards is answered with --answer FIELD=VALUE, as with `bowline call`.

A call goes on at the server that it was made to, started in the same folder. If
the entry of that server has changed since, nothing is sent.")]
pub(crate) struct Resume {
    /// The call, as it was named when it was parked
    id: Option<String>,
    /// Answers to what it has asked: FIELD=VALUE, QUESTION.FIELD=VALUE or @FILE
    #[arg(value_name = "FIELD=VALUE", value_parser = talk::parse_answer)]
    answers: Vec<talk::AnswerWord>,
    /// Forget the call; the server is not told
    #[arg(long, requires = "id", conflicts_with = "answers")]
    discard: bool,
    #[command(flatten)]
    save: SaveArgs,
}

impl Resume {
    pub(crate) async fn run(mut self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let shelf = Shelf::open()?;
        let Some(id) = self.id else {
            return list(cx, &shelf.all());
        };
        let parked = shelf.get(&id)?;
        if self.discard {
            shelf.remove(&id)?;
            cx.output.remark(format!("forgot {id}"));
            return Ok(());
        }
        // Before the folder changes.
        self.save.out = self.save.out.as_deref().map(absolute);
        let questions = parked.continuation.questions();
        let answers = talk::read_answers(&self.answers, cx.time_left())?;
        let answers = talk::aim(&answers, questions, |key| parked.is_open(key))
            .map_err(|failure| failure.hint(format!("go on with: {}", parked.command_line())))?;
        let cx = &context(cx, &parked, answers)?;
        let target = parked.target(cx)?;
        let tool = parked.tool.clone();
        let server = parked.name.clone();
        let what = format!("{server}.{tool}");
        let ended = target::with_client(cx, &target, async |client| {
            // As it stands now, should this not be the first attempt.
            let ended = talk::go_on(cx, client, shelf.get(&id)?).await;
            ended.map_err(|failure| failure.about(&what))
        });
        call::finish(cx, &server, &tool, ended.await?, &self.save)
    }
}

/// The world as it was when the call was parked, with the answers of now.
fn context(cx: &Context, parked: &Parked, answers: Vec<talk::Answers>) -> Result<Context, Failure> {
    let mut globals = cx.globals.clone();
    globals.record = globals.record.as_deref().map(absolute);
    globals.talk.root = globals
        .talk
        .root
        .iter()
        .map(|root| absolute(root))
        .collect();
    globals.talk.parked_answer = answers;
    // A project's file is found again there, and needs its yes again.
    let own = |path: &PathBuf| !target::is_projects_file(path, parked.folder());
    globals.config = parked.config().filter(own).or(globals.config);
    globals.protocol = parked.revision().or(globals.protocol);
    parked.enter_folder()?;
    Ok(cx.with_globals(globals))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn list(cx: &Context, all: &[Parked]) -> Result<(), Failure> {
    if cx.json() {
        let all: Vec<_> = all
            .iter()
            .map(|parked| {
                json!({
                    "parked": parked.id,
                    "server": parked.name,
                    "tool": parked.tool,
                    "questions": parked.continuation.questions(),
                    "resume": parked.command_line(),
                })
            })
            .collect();
        return cx.output.json(&all);
    }
    if all.is_empty() {
        cx.output.remark("no call waits for answers");
    }
    let paint = cx.output.paint();
    for parked in all {
        let what = format!("{} of {}", parked.tool, parked.name);
        let what = talk::one_line(&what);
        let age = paint.faint(ago(parked.age().as_secs()));
        cx.output
            .line(format!("{}  {what}, {age}", paint.strong(&parked.id)))?;
        cx.output.line(format!("  {}", parked.command_line()))?;
    }
    Ok(())
}

/// A time that has passed, in the largest unit that has one.
fn ago(seconds: u64) -> String {
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
