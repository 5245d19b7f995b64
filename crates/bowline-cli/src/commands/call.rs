//! `bowline call`.

use bowline::{Client, model::CallToolResult};
use clap::Args;
use serde_json::Value;

use super::list;
use crate::{
    arguments::{self, ArgumentTarget, ArgumentWord, Arguments},
    commands::raw::encode,
    context::Context,
    failure::Failure,
    interaction::{self, CallOutcome, TaskChoice},
    output::{ContentParts, FileContent, SaveArgs, pretty_json, print_parts},
    signature::{Signature, parse_shape},
    target::{self, Target, TargetWords},
};

/// Call a tool
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline call <SERVER>.<TOOL> [NAME=VALUE]… [OPTIONS]\n       bowline call <TOOL> [NAME=VALUE]… [OPTIONS] -- <COMMAND>…",
    after_help = "\
How arguments are written:
  name=value     a value, parsed by the tool's schema; repeat for lists
  name:=JSON     a value, as JSON
  name=@file     the contents of a file (@- is standard input, @@ a literal @)
  name:=@file    the JSON in a file
  a.b=value      a value inside an object
  '{…}'          all arguments, as JSON; also from @file, or - for standard input;
                 later names override its members

Examples:
  bowline call demo.echo message=hi
  bowline call 'demo.add(1, 2)'
  bowline call demo.search_flights destination=Lisbon --json
  bowline call studio.render scene=7 --task
  bowline call https://example.com/mcp echo message=hi
  bowline call echo message=hi -- npx -y @modelcontextprotocol/server-everything"
)]
pub(crate) struct Call {
    #[command(flatten)]
    words: TargetWords,
    /// Send the arguments as they are, without checking the tool's schema
    #[arg(long)]
    no_check: bool,
    /// Do not wait for a call that becomes a task; see `bowline tasks`
    ///
    /// Prints the name of the task and ends. Servers of revision 2026-07-28
    /// decide themselves which calls become tasks; in 2025-11-25, this asks for
    /// one. The result of any other call is printed as usual.
    #[arg(long)]
    task: bool,
    #[command(flatten)]
    save: SaveArgs,
}

impl Call {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let words = self.words.clone().resolve(cx)?;
        let server = words.target.name();
        let name = words.required_name("tool", |server| {
            format!("`bowline list {server}` shows its tools")
        })?;
        let argument_words = arguments::parse_words(&words.rest, cx.time_left())?;
        let (tool, outcome) = target::with_client(cx, &words.target, async |client| {
            let (tool, arguments) = self
                .arguments(cx, client, &words.target, name, &argument_words)
                .await?;
            let task = match self.task {
                true => TaskChoice::Detach,
                false => TaskChoice::Wait,
            };
            let arguments = Value::Object(arguments);
            let outcome = interaction::call(cx, client, &tool, arguments, task).await;
            let outcome =
                outcome.map_err(|failure| failure.with_prefix(&format!("{server}.{tool}")))?;
            Ok((tool, outcome))
        })
        .await?;
        print_outcome(cx, server, &tool, outcome, &self.save)
    }

    /// Returns the tool and the arguments, converted to its schema.
    async fn arguments(
        &self,
        cx: &Context,
        client: &Client,
        target: &Target,
        word: &str,
        argument_words: &[ArgumentWord],
    ) -> Result<(String, Arguments), Failure> {
        if self.no_check {
            let expression = arguments::parse_call(word, [])?;
            let arguments = arguments::build_unchecked(expression.all_arguments(argument_words)?)?;
            return Ok((expression.name.into_owned(), arguments));
        }
        let listed = list::tools(client).await?;
        let names = listed.items.iter().map(|tool| tool.name.as_str());
        let expression = arguments::parse_call(word, names)?;
        let name = &*expression.name;
        let tool = list::tool(&listed.items, target, name)?;
        let shape = parse_shape(&tool.input_schema_or_empty());
        let argument_target = ArgumentTarget {
            name,
            shape: &shape,
            signature: Signature::new(tool).line(),
        };
        let checked =
            arguments::build_checked(expression.all_arguments(argument_words)?, &argument_target)?;
        Ok((name.to_owned(), checked.into_arguments(&cx.output, name)))
    }
}

/// Prints how a call ended. Unused answers are a failure, reported after
/// everything else.
pub(crate) fn print_outcome(
    cx: &Context,
    server: &str,
    tool: &str,
    outcome: CallOutcome,
    save: &SaveArgs,
) -> Result<(), Failure> {
    let what = format!("{server}.{tool}");
    let printed = match outcome {
        CallOutcome::Done(result) => print(cx, &what, tool, &result, save),
        CallOutcome::Suspended(id) => interaction::report_suspended(cx, &id),
        CallOutcome::Task(id) => super::tasks::report_started(cx, &id),
    };
    let responder_failure = cx
        .responder
        .take_failure()
        .map(|failure| failure.with_prefix(&what));
    match (printed, responder_failure) {
        (printed, None) => printed,
        (Ok(()), Some(responder_failure)) => Err(responder_failure),
        (Err(failure), Some(responder_failure)) => Err(failure.hint(responder_failure.message)),
    }
}

/// Prints the result of a tool.
fn print(
    cx: &Context,
    what: &str,
    tool: &str,
    result: &CallToolResult,
    save: &SaveArgs,
) -> Result<(), Failure> {
    let mut parts = ContentParts::from_blocks(&result.content);
    let structured = result.structured_content.as_ref();
    if let (true, Some(value)) = (parts.texts.is_empty(), structured) {
        match save.out {
            Some(_) => parts.files.push(FileContent {
                mime_type: Some("application/json".to_owned()),
                bytes: format!("{}\n", pretty_json(value.get())).into_bytes(),
            }),
            None => parts.texts.push(pretty_json(value.get())),
        }
    }
    if cx.json() {
        cx.output.json_text(encode(result)?.get())?;
        if result.is_error() {
            return Err(Failure::failed(format!("{what} failed")));
        }
        return save.save(&cx.output, tool, &parts.files);
    }
    if result.is_error() {
        return Err(tool_failure(what, &parts));
    }
    if parts.is_empty() {
        cx.output
            .note(format!("{what} succeeded and returned no content"));
    }
    print_parts(&cx.output, tool, parts, save)
}

/// Returns the failure that a tool reported in its result.
fn tool_failure(what: &str, parts: &ContentParts) -> Failure {
    let text = parts.texts.join("\n");
    let text = text.trim();
    Failure::failed(match text {
        "" => format!("{what} failed without an error message"),
        line if !line.contains('\n') => format!("{what} failed: {line}"),
        lines => format!("{what} failed:\n{lines}"),
    })
}
