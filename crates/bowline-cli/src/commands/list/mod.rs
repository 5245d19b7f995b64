//! `bowline list`.

mod all_servers;
mod lookup;

use bowline::{RawJson, model::Tool};
use bowline_schema::print::signature::PrintBudget;
use clap::Args;

pub(crate) use self::lookup::{not_found, prompt, prompts, tool, tools};
use crate::{
    arguments::{CallExpression, quoted_name},
    commands::raw::{RawList, encode},
    context::Context,
    failure::Failure,
    interaction::shell_quoted,
    output::{escape_control, terminal_width},
    signature::{Length, Signature},
    target::{self, ResolvedWords, Target, TargetWords},
};

/// Maximum number of types made and printed for all signatures of a list. A
/// hostile server may list a hundred thousand tools.
const MAX_TYPES: usize = 2_000_000;

/// List the tools of a server, or of all servers
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline list [SERVER[.TOOL]] [OPTIONS]\n       bowline list [TOOL] [OPTIONS] -- <COMMAND>…",
    after_help = "\
Examples:
  bowline list                     the tools of all servers
  bowline list demo                the tools of one server, as signatures
  bowline list demo.echo           details of one tool
  bowline list demo.echo --schema  the schema of its arguments
  bowline list -- npx -y @modelcontextprotocol/server-everything"
)]
pub(crate) struct List {
    #[command(flatten)]
    words: TargetWords,
    /// Print the JSON Schema of the tool's arguments
    #[arg(long)]
    schema: bool,
    /// Do not shorten anything
    #[arg(long)]
    full: bool,
}

impl List {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        if self.words.words.is_empty() && self.words.command.is_empty() {
            return all_servers::list(cx).await;
        }
        let words = self.words.clone().resolve(cx)?;
        if let Some(word) = words.rest.first() {
            return Err(Failure::usage(format!("unexpected argument `{word}`"))
                .hint("list one server or one tool at a time"));
        }
        let listed = target::with_client(cx, &words.target, async |client| tools(client).await);
        let listed = listed.await?;
        match &words.name {
            Some(name) => self.print_tool(cx, &words, name, &listed),
            None => self.print_tools(cx, words.target.name(), &listed),
        }
    }

    fn print_tools(
        &self,
        cx: &Context,
        server: &str,
        listed: &RawList<Tool>,
    ) -> Result<(), Failure> {
        if self.schema {
            let schemas = listed.items.iter();
            let schemas = schemas.map(|tool| (tool.name.clone(), tool.input_schema_or_empty()));
            let schemas: bowline::model::Members<_> = schemas.collect();
            return cx.output.json_text(encode(&schemas)?.get());
        }
        if cx.json() {
            return cx.output.json_text(listed.json()?.get());
        }
        if listed.items.is_empty() {
            cx.output.note(format!("{server} has no tools"));
            return Ok(());
        }
        let length = match self.full {
            true => Length::Full,
            false => Length::Short,
        };
        let budget = PrintBudget::new(MAX_TYPES);
        let mut lines = Vec::new();
        for tool in &listed.items {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let signature = Signature::within(tool, &budget);
            lines.extend(signature.lines(length, cx.output.paint(), terminal_width()));
        }
        cx.output.line(lines.join("\n"))
    }

    fn print_tool(
        &self,
        cx: &Context,
        words: &ResolvedWords,
        name: &str,
        listed: &RawList<Tool>,
    ) -> Result<(), Failure> {
        let names = listed.items.iter().map(|tool| tool.name.as_str());
        // The name may be quoted. Arguments are not allowed here.
        let bare_name = CallExpression::new(name, names)
            .ok()
            .and_then(CallExpression::into_bare_name);
        let name = bare_name.as_deref().unwrap_or(name);
        let tool = tool(&listed.items, &words.target, name)?;
        if self.schema {
            return cx.output.json_text(tool.input_schema_or_empty().get());
        }
        if cx.json() {
            let is_requested =
                |raw: &&RawJson| raw.decode::<Tool>().is_ok_and(|tool| tool.name == name);
            let raw = listed.raw.iter().find(is_requested);
            return cx.output.json_text(raw.map_or("null", RawJson::get));
        }
        let length = match self.full {
            true => Length::Full,
            false => Length::Page,
        };
        let signature = Signature::new(tool);
        let mut lines = signature.lines(length, cx.output.paint(), terminal_width());
        let command_line = format!(
            "  bowline call {}",
            call_command_line(&words.target, &signature)
        );
        lines.extend([
            String::new(),
            cx.output.paint().dim(escape_control(&command_line)),
        ]);
        cx.output.line(lines.join("\n"))
    }
}

/// Formats the command line that calls a tool with its required arguments.
fn call_command_line(target: &Target, signature: &Signature<'_>) -> String {
    let name = quoted_name(signature.name());
    let required_names = signature.required();
    let words = required_names.map(|name| shell_quoted(&format!("{name}=…")));
    let words: Vec<_> = words.collect();
    let all = match target {
        Target::Demo | Target::Configured(_) => {
            let options = target.options();
            let tool = shell_quoted(&format!("{}.{name}", target.name()));
            [vec![format!("{options}{tool}")], words]
        }
        Target::Url(_) => [vec![target.to_shell_args(), shell_quoted(&name)], words],
        Target::Command(_) => [
            [vec![shell_quoted(&name)], words].concat(),
            vec![target.to_shell_args()],
        ],
    };
    all.concat().join(" ")
}
