//! `bowline list`.

mod everywhere;
mod find;

use bowline::proto::{jsonrpc::RawJson, model::Tool};
use clap::Args;

pub(crate) use self::find::{missing, prompt, prompts, tool, tools};
use crate::{
    arguments::{Called, spelled},
    context::Context,
    failure::Failure,
    output::clean,
    signature::{Budget, Length, Signature, width},
    talk::quoted,
    target::{self, ServerWords, Target, Words},
    verbs::raw::{Listed, encode},
};

/// How many parts of schemas are looked at for all signatures of a list. There
/// may be a hundred thousand tools, and none of them may be honest.
const MAX_PARTS: usize = 2_000_000;

/// List the tools of a server, or of all servers
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline list [SERVER[.TOOL]] [OPTIONS]\n       bowline list [TOOL] [OPTIONS] -- <COMMAND>…",
    after_help = "\
Examples:
  bowline list                     the tools of all servers
  bowline list demo                the tools of one server, as signatures
  bowline list demo.echo           all about one tool
  bowline list demo.echo --schema  the schema of its arguments
  bowline list -- npx -y @modelcontextprotocol/server-everything"
)]
pub(crate) struct List {
    #[command(flatten)]
    words: ServerWords,
    /// Print the JSON Schema of what a tool takes
    #[arg(long)]
    schema: bool,
    /// Shorten nothing
    #[arg(long)]
    full: bool,
}

impl List {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        if self.words.words.is_empty() && self.words.command.is_empty() {
            return everywhere::list(cx).await;
        }
        let words = self.words.clone().resolve(cx)?;
        if let Some(word) = words.rest.first() {
            return Err(Failure::usage(format!("`{word}` is one word too many"))
                .hint("one server or one tool is listed at a time"));
        }
        let listed = target::with_client(cx, &words.target, async |client| tools(client).await);
        let listed = listed.await?;
        match &words.name {
            Some(name) => self.one(cx, &words, name, &listed),
            None => self.all(cx, words.target.name(), &listed),
        }
    }

    fn all(&self, cx: &Context, server: &str, listed: &Listed<Tool>) -> Result<(), Failure> {
        if self.schema {
            let schemas = listed.items.iter();
            let schemas = schemas.map(|tool| (tool.name.clone(), tool.input_schema_or_empty()));
            let schemas: bowline::proto::model::Members<_> = schemas.collect();
            return cx.output.verbatim(encode(&schemas)?.get());
        }
        if cx.json() {
            return cx.output.verbatim(listed.json()?.get());
        }
        if listed.items.is_empty() {
            cx.output.remark(format!("{server} has no tools"));
            return Ok(());
        }
        let length = match self.full {
            true => Length::Whole,
            false => Length::Short,
        };
        let budget = Budget::new(MAX_PARTS);
        let mut lines = Vec::new();
        for tool in &listed.items {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let signature = Signature::of(tool).within(&budget);
            lines.extend(signature.lines(length, cx.output.paint(), width()));
        }
        cx.output.line(lines.join("\n"))
    }

    fn one(
        &self,
        cx: &Context,
        words: &Words,
        name: &str,
        listed: &Listed<Tool>,
    ) -> Result<(), Failure> {
        let names = listed.items.iter().map(|tool| tool.name.as_str());
        // Perhaps in quotation marks. Arguments do not belong here.
        let called = Called::new(name, names).ok().and_then(Called::alone);
        let name = called.as_deref().unwrap_or(name);
        let tool = tool(&listed.items, &words.target, name)?;
        if self.schema {
            return cx.output.verbatim(tool.input_schema_or_empty().get());
        }
        if cx.json() {
            let is_it = |raw: &&RawJson| raw.decode::<Tool>().is_ok_and(|tool| tool.name == name);
            let raw = listed.raw.iter().find(is_it);
            return cx.output.verbatim(raw.map_or("null", RawJson::get));
        }
        let length = match self.full {
            true => Length::Whole,
            false => Length::Page,
        };
        let signature = Signature::of(tool);
        let mut lines = signature.lines(length, cx.output.paint(), width());
        let called = format!("  bowline call {}", typed(&words.target, &signature));
        lines.extend([String::new(), cx.output.paint().faint(clean(&called))]);
        cx.output.line(lines.join("\n"))
    }
}

/// How a tool is called on a command line, with what it needs.
fn typed(target: &Target, signature: &Signature<'_>) -> String {
    let name = spelled(signature.name());
    let needed = signature.needed();
    let words = needed.map(|name| quoted(&format!("{name}=…")));
    let words: Vec<_> = words.collect();
    let all = match target {
        Target::Demo | Target::Configured(_) => {
            let options = target.options();
            let tool = quoted(&format!("{}.{name}", target.name()));
            [vec![format!("{options}{tool}")], words]
        }
        Target::Url(_) => [vec![target.typed(), quoted(&name)], words],
        Target::Command(_) => [[vec![quoted(&name)], words].concat(), vec![target.typed()]],
    };
    all.concat().join(" ")
}
