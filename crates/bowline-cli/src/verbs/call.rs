//! `bowline call`.

use bowline::{Client, proto::model::CallToolResult};
use clap::Args;
use serde_json::Value;

use super::list;
use crate::{
    arguments::{self, Arguments, Given, Wanted},
    context::Context,
    failure::Failure,
    output::{Parts, Piece, SaveArgs, pretty, print_parts},
    signature::{Document, Signature},
    talk::{self, Ended},
    target::{self, ServerWords, Target},
    verbs::raw::encode,
};

/// Call a tool
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline call <SERVER>.<TOOL> [NAME=VALUE]… [OPTIONS]\n       bowline call <TOOL> [NAME=VALUE]… [OPTIONS] -- <COMMAND>…",
    after_help = "\
How arguments are written:
  name=value     a value, read as the tool's schema says; again for lists
  name:=JSON     a value, as JSON
  name=@file     the text of a file (@- is standard input, @@ a plain @)
  name:=@file    the JSON in a file
  a.b=value      a value within an object
  '{…}'          all arguments, as JSON; also from @file, or - for standard input;
                 names after it replace what is in it

Examples:
  bowline call demo.echo message=hi
  bowline call 'demo.add(1, 2)'
  bowline call demo.search_flights destination=Lisbon --json
  bowline call https://example.com/mcp echo message=hi
  bowline call echo message=hi -- npx -y @modelcontextprotocol/server-everything"
)]
pub(crate) struct Call {
    #[command(flatten)]
    words: ServerWords,
    /// Send the arguments as they are, without a look at the tool's schema
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    save: SaveArgs,
}

impl Call {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let words = self.words.clone().resolve(cx)?;
        let server = words.target.name();
        let Some(name) = words.name.as_deref().filter(|name| !name.is_empty()) else {
            return Err(
                Failure::usage(format!("which tool of {server}?")).hint(format!(
                    "`bowline list {}` shows those that there are",
                    words.target.typed()
                )),
            );
        };
        let given = arguments::read(&words.rest, cx.time_left())?;
        let (tool, ended) = target::with_client(cx, &words.target, async |client| {
            let (tool, arguments) = self
                .arguments(cx, client, &words.target, name, &given)
                .await?;
            let ended = talk::call(cx, client, &tool, Value::Object(arguments)).await;
            let ended = ended.map_err(|failure| failure.about(&format!("{server}.{tool}")))?;
            Ok((tool, ended))
        })
        .await?;
        finish(cx, server, &tool, ended, &self.save)
    }

    /// The tool that is called, and the arguments as it wants them.
    async fn arguments(
        &self,
        cx: &Context,
        client: &Client,
        target: &Target,
        word: &str,
        given: &[Given],
    ) -> Result<(String, Arguments), Failure> {
        if self.no_check {
            let called = arguments::called(word, [])?;
            let arguments = arguments::unchecked(called.given(given)?)?;
            return Ok((called.name.into_owned(), arguments));
        }
        let listed = list::tools(client).await?;
        let names = listed.items.iter().map(|tool| tool.name.as_str());
        let called = arguments::called(word, names)?;
        let name = &*called.name;
        let tool = list::tool(&listed.items, target, name)?;
        let schema = Document::new(tool.input_schema_or_empty().get());
        let wanted = Wanted {
            name,
            schema: schema.schema(),
            signature: Signature::of(tool).line(),
        };
        let fitted = arguments::fit(called.given(given)?, &wanted)?;
        Ok((name.to_owned(), fitted.arguments(&cx.output, name)))
    }
}

/// Shows how a call ended. What was typed for it and did not count is a
/// failure, after all else was said.
pub(crate) fn finish(
    cx: &Context,
    server: &str,
    tool: &str,
    ended: Ended,
    save: &SaveArgs,
) -> Result<(), Failure> {
    let what = format!("{server}.{tool}");
    let shown = match ended {
        Ended::Done(result) => print(cx, &what, tool, &result, save),
        Ended::Parked(id) => talk::tell_parked(cx, &id),
    };
    let complaint = cx.talk.complaint().map(|failure| failure.about(&what));
    match (shown, complaint) {
        (shown, None) => shown,
        (Ok(()), Some(complaint)) => Err(complaint),
        (Err(failure), Some(complaint)) => Err(failure.hint(complaint.message)),
    }
}

/// Prints what a tool returned.
fn print(
    cx: &Context,
    what: &str,
    tool: &str,
    result: &CallToolResult,
    save: &SaveArgs,
) -> Result<(), Failure> {
    let mut parts = Parts::of_blocks(&result.content);
    let structured = result.structured_content.as_ref();
    if let (true, Some(value)) = (parts.texts.is_empty(), structured) {
        match save.out {
            Some(_) => parts.pieces.push(Piece {
                mime_type: Some("application/json".to_owned()),
                bytes: format!("{}\n", pretty(value.get())).into_bytes(),
            }),
            None => parts.texts.push(pretty(value.get())),
        }
    }
    if cx.json() {
        cx.output.verbatim(encode(result)?.get())?;
        if result.failed() {
            return Err(Failure::failed(format!("{what} failed")));
        }
        return save.save(&cx.output, tool, &parts.pieces);
    }
    if result.failed() {
        return Err(failed(what, &parts));
    }
    if parts.is_empty() {
        cx.output
            .remark(format!("{what} is done, and returned nothing"));
    }
    print_parts(&cx.output, tool, parts, save)
}

/// The tool says itself what went wrong.
fn failed(what: &str, parts: &Parts) -> Failure {
    let text = parts.texts.join("\n");
    let text = text.trim();
    Failure::failed(match text {
        "" => format!("{what} failed, and does not say why"),
        line if !line.contains('\n') => format!("{what} failed: {line}"),
        lines => format!("{what} failed:\n{lines}"),
    })
}
