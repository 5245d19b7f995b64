//! `bowline tasks`.

use bowline::{Client, client::TaskInfo};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::resume::{self, Resume};
use crate::{
    context::Context,
    failure::Failure,
    interaction::{self, CallStore, StoredCall, StoredTask},
    output::SaveArgs,
    target::{self, ServerArgs},
};

/// List, wait for and cancel tasks: calls whose result comes later
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  bowline call studio.render scene=7 --task  start a task, and print its name
  bowline tasks                              list the tasks that were started here
  bowline tasks get brave-otter-12           ask the server for its state
  bowline tasks wait brave-otter-12          wait for its result, answering questions
  bowline tasks cancel brave-otter-12        cancel it

A task goes on at its server without this command. It is named by whoever
started it; the server's own id is in the output of `bowline tasks get`."
)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    command: Option<TasksCommand>,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    List(List),
    Get(Get),
    Wait(Wait),
    Cancel(Cancel),
}

/// List the tasks that were started here, or those that a server lists
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline tasks list         the tasks that were started here
  bowline tasks list studio  the tasks that the server lists for you

Only servers of revision 2025-11-25 may list tasks.")]
struct List {
    /// The server: a configured name, a URL, or `demo`
    server: Option<String>,
    /// Command that starts the server
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Ask the server for the state of a task
#[derive(Args, Debug)]
struct Get {
    /// The name that `bowline call --task` printed
    name: String,
}

/// Wait for the result of a task, and print it
///
/// Questions are answered as those of calls are: in the terminal, with --answer
/// or with FIELD=VALUE. Without answers, the task goes on waiting.
#[derive(Args, Debug)]
struct Wait {
    /// The name that `bowline call --task` printed
    name: String,
    /// Answers to the questions it has already asked: FIELD=VALUE,
    /// QUESTION.FIELD=VALUE or @FILE
    #[arg(value_name = "FIELD=VALUE", value_parser = interaction::parse_answer)]
    answers: Vec<interaction::AnswerWord>,
    #[command(flatten)]
    save: SaveArgs,
}

/// Cancel a task
///
/// The server may still complete it, and need not stop the work.
#[derive(Args, Debug)]
struct Cancel {
    /// The name that `bowline call --task` printed
    name: String,
    /// Forget the task without notifying the server
    #[arg(long)]
    forget: bool,
}

impl Tasks {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        match self.command {
            None => list_stored(cx),
            Some(TasksCommand::List(command)) => command.run(cx).await,
            Some(TasksCommand::Get(command)) => command.run(cx).await,
            Some(TasksCommand::Wait(command)) => command.run(cx).await,
            Some(TasksCommand::Cancel(command)) => command.run(cx).await,
        }
    }
}

impl List {
    async fn run(self, cx: &Context) -> Result<(), Failure> {
        if self.server.is_none() && self.command.is_empty() {
            return list_stored(cx);
        }
        let server = ServerArgs {
            server: self.server,
            command: self.command,
        };
        let target = server.target(cx)?;
        let tasks = target::with_client(cx, &target, async |client: &Client| {
            let mut list = client.tasks().list();
            if let Some(time_left) = cx.time_left() {
                list = list.timeout(time_left);
            }
            Ok(list.await?)
        })
        .await?;
        if cx.json() {
            let tasks: Vec<Value> = tasks.iter().map(state_json).collect();
            return cx.output.json(&tasks);
        }
        if tasks.is_empty() {
            let server = target.name();
            cx.output.note(format!("{server} lists no tasks"));
        }
        for task in &tasks {
            let id = interaction::one_line(&task.id);
            let id = cx.output.paint().bold(id);
            cx.output.line(format!("{id}  {}", state_line(task)))?;
        }
        Ok(())
    }
}

impl Get {
    async fn run(self, cx: &Context) -> Result<(), Failure> {
        let (stored, task) = stored_task(&self.name)?;
        let cx = &resume::resumed_context(cx, &stored, Vec::new())?;
        let target = stored.target(cx)?;
        let state = target::with_client(cx, &target, async |client: &Client| {
            let mut task = client.tasks().resume(task.saved.clone());
            Ok(task.refresh().await?.clone())
        });
        let state = state.await.map_err(|failure| prefixed(failure, &stored))?;
        if cx.json() {
            return cx.output.json(&state_json(&state));
        }
        cx.output.line(state_line(&state))?;
        let paint = cx.output.paint();
        let facts = [
            ("call", format!("{} of {}", stored.tool, stored.name)),
            ("id", state.id.to_string()),
            ("created", state.created_at.clone()),
            ("changed", state.last_updated_at.clone()),
        ];
        for (name, value) in facts {
            let value = interaction::one_line(&value);
            cx.output
                .line(format!("  {}  {value}", paint.dim(format!("{name:7}"))))?;
        }
        Ok(())
    }
}

impl Wait {
    async fn run(self, cx: &Context) -> Result<(), Failure> {
        stored_task(&self.name)?;
        let resume = Resume {
            id: Some(self.name),
            answers: self.answers,
            discard: false,
            save: self.save,
        };
        resume.run(cx).await
    }
}

impl Cancel {
    async fn run(self, cx: &Context) -> Result<(), Failure> {
        let (stored, task) = stored_task(&self.name)?;
        if !self.forget {
            let cx = &resume::resumed_context(cx, &stored, Vec::new())?;
            let target = stored.target(cx)?;
            let cancelled = target::with_client(cx, &target, async |client: &Client| {
                let mut task = client.tasks().resume(task.saved.clone());
                Ok(task.cancel().await?)
            });
            cancelled.await.map_err(|failure| {
                let hint = format!("`bowline tasks cancel {} --forget` forgets it", self.name);
                prefixed(failure, &stored).hint(hint)
            })?;
        }
        CallStore::open()?.remove(&self.name)?;
        if cx.json() {
            return cx.output.json(&json!({"cancelled": self.name}));
        }
        let done = if self.forget { "forgot" } else { "cancelled" };
        cx.output.note(format!("{done} {}", self.name));
        Ok(())
    }
}

/// Prints the name of a task that was just started.
pub(crate) fn report_started(cx: &Context, name: &str) -> Result<(), Failure> {
    let (stored, task) = stored_task(name)?;
    if cx.json() {
        return cx.output.json(&stored_json(&stored, &task));
    }
    cx.output.line(name)?;
    cx.output.note(format!(
        "{} runs {} as a task; wait for its result with:\n  {}",
        stored.name,
        interaction::one_line(&stored.tool),
        stored.command_line()
    ));
    Ok(())
}

fn stored_task(name: &str) -> Result<(StoredCall, StoredTask), Failure> {
    let stored = CallStore::open()?.get(name).map_err(|mut failure| {
        failure.message = format!("unknown task `{name}`");
        failure.hints = vec!["`bowline tasks` lists the tasks that were started here".to_owned()];
        failure
    })?;
    match stored.task().cloned() {
        Some(task) => Ok((stored, task)),
        None => Err(
            Failure::usage(format!("`{name}` is a suspended call, not a task"))
                .hint(format!("resume it with: {}", stored.command_line())),
        ),
    }
}

fn list_stored(cx: &Context) -> Result<(), Failure> {
    let all = CallStore::open()?.list();
    let tasks: Vec<_> = all
        .iter()
        .filter_map(|stored| stored.task().map(|task| (stored, task)))
        .collect();
    if cx.json() {
        let tasks: Vec<Value> = tasks
            .iter()
            .map(|(call, task)| stored_json(call, task))
            .collect();
        return cx.output.json(&tasks);
    }
    if tasks.is_empty() {
        cx.output.note("no tasks");
    }
    let paint = cx.output.paint();
    for (stored, _) in tasks {
        let what = interaction::one_line(&format!("{} of {}", stored.tool, stored.name));
        let age = paint.dim(resume::format_age(stored.age().as_secs()));
        cx.output
            .line(format!("{}  {what}, {age}", paint.bold(&stored.id)))?;
        cx.output.line(format!("  {}", stored.command_line()))?;
    }
    Ok(())
}

fn stored_json(stored: &StoredCall, task: &StoredTask) -> Value {
    json!({
        "task": stored.id,
        "server": stored.name,
        "tool": stored.tool,
        "taskId": task.saved.id(),
        "status": task.saved.status(),
        "questions": stored.questions(),
        "wait": stored.command_line(),
    })
}

/// Returns the state of a task, in the words of the newest revision.
fn state_json(task: &TaskInfo) -> Value {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut state = json!({
        "taskId": task.id,
        "status": task.status,
        "createdAt": task.created_at,
        "lastUpdatedAt": task.last_updated_at,
        "ttlMs": task.ttl.map(millis),
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            state[key] = value;
        }
    };
    add(
        "statusMessage",
        task.status_message.as_ref().map(|it| json!(it)),
    );
    add(
        "pollIntervalMs",
        task.poll_interval.map(|it| json!(millis(it))),
    );
    add(
        "inputRequests",
        (!task.questions.is_empty()).then(|| json!(task.questions)),
    );
    add("result", task.result.as_ref().map(|it| json!(it)));
    add("error", task.error.as_ref().map(|it| json!(it)));
    state
}

/// Returns the status and its description, on one line.
fn state_line(task: &TaskInfo) -> String {
    let status = interaction::one_line(task.status.as_str());
    match &task.status_message {
        Some(message) => format!("{status}: {}", interaction::one_line(message)),
        None => status,
    }
}

fn prefixed(failure: Failure, stored: &StoredCall) -> Failure {
    failure.with_prefix(&format!("{}.{}", stored.name, stored.tool))
}
