//! The other direction: what servers ask of people and models.
//!
//! - `desk` decides who answers: what was `given` beforehand, the person at the
//!   `terminal`, or nobody; `aim` finds the question that an answer is for.
//! - `form` asks for `field`s, `page` sends to a `browser`, `sampling` has a
//!   `model` asked, or the person in its place.
//! - `rounds` sees a call through to its end, with its `progress` on the
//!   `screen`; what nobody answers is `parked`.

mod aim;
mod args;
mod browser;
mod desk;
mod field;
mod form;
mod given;
mod model;
mod page;
mod parked;
mod progress;
mod prompt;
mod question;
mod rounds;
mod sampling;
mod screen;
mod settings;
mod terminal;
mod visits;

use std::sync::Arc;

use bowline::{
    Client,
    client::ClientBuilder,
    proto::{
        jsonrpc::{ErrorObject, code},
        model::{CallToolResult, ElicitParams, ElicitResult, InputRequest},
    },
};
use serde_json::Value;

pub(crate) use self::{
    aim::aim,
    args::{Answers, TalkArgs},
    browser::open as open_page,
    desk::Desk,
    given::{AnswerWord, parse as parse_answer, read as read_answers},
    parked::{Parked, Shelf},
    question::quoted,
};
use self::{desk::Unanswered, rounds::Rounds};
use crate::{context::Context, failure::Failure, output::clean};

/// Declares what this terminal, or its absence, can answer.
pub(crate) fn offer(builder: ClientBuilder, cx: &Context) -> ClientBuilder {
    let (asked, sampled) = (Arc::clone(&cx.talk), Arc::clone(&cx.talk));
    let mut builder = builder
        .on_elicit(move |params| {
            let desk = Arc::clone(&asked);
            async move {
                let answer = desk.elicit(None, &params).await;
                answer.unwrap_or_else(|unanswered| declined(&desk, params, &unanswered))
            }
        })
        .elicit_urls()
        .on_sample(move |params| {
            let desk = Arc::clone(&sampled);
            async move {
                let answer = desk.sample(&params).await;
                answer.unwrap_or_else(|unanswered| Err(no_model(&desk, &unanswered)))
            }
        });
    if cx.talk.command().is_some() {
        // A person who types an answer calls no tools.
        builder = builder.sample_tools();
    }
    let roots = cx.talk.roots();
    if !roots.is_empty() {
        builder = builder.roots(roots);
    }
    builder
}

/// How a call ended.
pub(crate) enum Ended {
    /// With a result.
    Done(Box<CallToolResult>),
    /// With questions that nobody here could answer: it goes on with
    /// `bowline resume`.
    Parked(String),
}

/// Calls a tool, and sees to what it asks meanwhile.
pub(crate) async fn call(
    cx: &Context,
    client: &Client,
    tool: &str,
    arguments: Value,
) -> Result<Ended, Failure> {
    cx.talk.introduce(client);
    Rounds::new(cx, client, tool).begin(arguments).await
}

/// Goes on with a parked call.
pub(crate) async fn go_on(cx: &Context, client: &Client, parked: Parked) -> Result<Ended, Failure> {
    cx.talk.introduce(client);
    let tool = parked.tool.clone();
    Rounds::new(cx, client, &tool).go_on(parked).await
}

/// Says what a parked call waits for, and how to go on: on standard error, or
/// as JSON.
pub(crate) fn tell_parked(cx: &Context, id: &str) -> Result<(), Failure> {
    Shelf::open()?.get(id)?.tell(cx)
}

/// While the call is open there is no later: an answer is due now.
fn declined(desk: &Desk, params: ElicitParams, unanswered: &Unanswered) -> ElicitResult {
    let (name, message) = (desk.name(), one_line(&params.message));
    let why = clean(&unanswered.why);
    desk.screen.line(format!(
        "{name} asked: {message}\n  declined, because {why}"
    ));
    let questions = [("question", InputRequest::from(params))];
    let words = question::options(&questions.into_iter().collect());
    desk.screen.line(format!("  answer it with {words}"));
    desk.complain(unanswered);
    ElicitResult::decline()
}

fn no_model(desk: &Desk, unanswered: &Unanswered) -> ErrorObject {
    if desk.complain(unanswered) {
        let (name, why) = (desk.name(), clean(&unanswered.why));
        desk.screen.line(format!(
            "{name} wanted to ask a model\n  refused, because {why}"
        ));
        desk.screen
            .line("  answer with --sampling-command COMMAND, or by hand in a terminal");
    }
    ErrorObject::new(code::INTERNAL_ERROR, "no model was asked")
}

/// A text of a server's, harmless and on one line.
pub(crate) fn one_line(text: &str) -> String {
    let words = clean(text);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of a server's, harmless and set in.
fn indented(text: &str) -> String {
    let text = clean(text);
    let lines: Vec<_> = text
        .trim_end()
        .lines()
        .map(|line| format!("  {line}"))
        .collect();
    lines.join("\n")
}
