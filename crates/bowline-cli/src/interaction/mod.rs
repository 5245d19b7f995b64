//! Questions that servers ask users and models.
//!
//! - `responder` decides who answers: `preset` answers, the user at the
//!   `terminal`, or nobody; `matching` finds the question an answer is for.
//! - `form` asks for `field`s, `page` opens a browser, `sampling` asks a
//!   `model`, or the user instead.
//! - `rounds` runs a call to its end, with its `progress` on the `screen`; a
//!   call with unanswered questions is suspended, and `suspended` stores it;
//!   `task` follows the task that a call became.

mod args;
mod field;
mod form;
mod letter_choice;
mod matching;
mod model;
mod page;
mod preset;
mod progress;
mod question;
mod required_urls;
mod responder;
mod rounds;
mod sampling;
mod screen;
mod settings;
mod suspended;
mod task;
mod terminal;

use std::sync::Arc;

use bowline::{
    Client,
    client::ClientBuilder,
    model::{CallToolResult, ElicitParams, ElicitResult, InputRequest},
    proto::jsonrpc::{ErrorObject, code},
};
use serde_json::Value;

pub(crate) use self::{
    args::{Answers, InteractionArgs},
    matching::match_to_questions,
    preset::{AnswerWord, parse_answer, read_answers},
    question::shell_quoted,
    responder::Responder,
    suspended::{CallStore, StoredCall, StoredTask},
};
use self::{responder::Unanswered, rounds::Rounds};
use crate::{context::Context, failure::Failure, output::escape_control};

/// Declares the capabilities for which there are answers.
pub(crate) fn declare_capabilities(builder: ClientBuilder, cx: &Context) -> ClientBuilder {
    let (for_elicit, for_sampling) = (Arc::clone(&cx.responder), Arc::clone(&cx.responder));
    let mut builder = builder
        .on_elicit(move |params| {
            let responder = Arc::clone(&for_elicit);
            async move {
                let answer = responder.elicit(None, &params).await;
                answer.unwrap_or_else(|unanswered| decline(&responder, params, &unanswered))
            }
        })
        .allow_url_elicitation()
        .on_sample(move |params| {
            let responder = Arc::clone(&for_sampling);
            async move {
                let answer = responder.sample(&params).await;
                answer.unwrap_or_else(|unanswered| Err(no_model_error(&responder, &unanswered)))
            }
        });
    if cx.responder.model_command().is_some() {
        // A user who types an answer cannot call tools.
        builder = builder.allow_sampling_tools();
    }
    let roots = cx.responder.roots();
    if !roots.is_empty() {
        builder = builder.roots(roots);
    }
    builder
}

/// How a call ended.
pub(crate) enum CallOutcome {
    /// With a result.
    Done(Box<CallToolResult>),
    /// Suspended, with questions that nobody could answer; `bowline resume`
    /// resumes it.
    Suspended(String),
    /// As a task, which goes on at the server; `bowline tasks` has it.
    Task(String),
}

/// What to do if a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskChoice {
    /// Wait for its result.
    Wait,
    /// Ask for one, and leave it to itself.
    Detach,
}

/// Calls a tool and answers its questions.
pub(crate) async fn call(
    cx: &Context,
    client: &Client,
    tool: &str,
    arguments: Value,
    task: TaskChoice,
) -> Result<CallOutcome, Failure> {
    cx.responder.set_name(client);
    Rounds::new(cx, client, tool).start(arguments, task).await
}

/// Resumes a suspended call.
pub(crate) async fn resume(
    cx: &Context,
    client: &Client,
    stored: StoredCall,
) -> Result<CallOutcome, Failure> {
    cx.responder.set_name(client);
    let tool = stored.tool.clone();
    Rounds::new(cx, client, &tool).resume(stored).await
}

/// Prints what a suspended call is waiting for and how to resume it: to
/// standard error, or as JSON.
pub(crate) fn report_suspended(cx: &Context, id: &str) -> Result<(), Failure> {
    CallStore::open()?.get(id)?.report(cx)
}

/// Declines a question that cannot wait: the call stays open until it is
/// answered.
fn decline(responder: &Responder, params: ElicitParams, unanswered: &Unanswered) -> ElicitResult {
    let (name, message) = (responder.name(), one_line(&params.message));
    let why = escape_control(&unanswered.reason);
    responder.screen.line(format!(
        "{name} asked: {message}\n  declined, because {why}"
    ));
    let questions = [("question", InputRequest::from(params))];
    let words = question::answer_options(&questions.into_iter().collect());
    responder.screen.line(format!("  to answer, use {words}"));
    responder.record_failure(unanswered);
    ElicitResult::decline()
}

fn no_model_error(responder: &Responder, unanswered: &Unanswered) -> ErrorObject {
    if responder.record_failure(unanswered) {
        let (name, why) = (responder.name(), escape_control(&unanswered.reason));
        responder.screen.line(format!(
            "{name} requested sampling from a model\n  refused, because {why}"
        ));
        responder
            .screen
            .line("  to answer, use --sampling-command COMMAND, or type the answer in a terminal");
    }
    ErrorObject::new(code::INTERNAL_ERROR, "no model is available")
}

/// Escapes text from a server and puts it on one line.
pub(crate) fn one_line(text: &str) -> String {
    let words = escape_control(text);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes and indents text from a server.
fn indented(text: &str) -> String {
    let text = escape_control(text);
    let lines: Vec<_> = text
        .trim_end()
        .lines()
        .map(|line| format!("  {line}"))
        .collect();
    lines.join("\n")
}
