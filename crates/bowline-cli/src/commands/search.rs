//! `bowline search`.

use std::time::Duration;

use bowline::{
    Client,
    model::{Prompt, Resource, ResourceTemplate, Tool},
};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    fleet::{self, ItemKind, SearchItem, or_empty, rank, run_on_all, select},
    output::{Paint, Style, escape_control, escape_name},
    target::interruptible,
};

/// Default time in which a server must list everything.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Search the tools, resources and prompts of all servers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline search flight                     everything about flights
  bowline search flight --in tools --names  only tool names, one per line
  bowline search 'book flight' --server demo
  bowline search knots --server notes --call  use the server's own search tool")]
pub(crate) struct Search {
    /// Words to find in names and descriptions
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Search only this server; may be repeated
    #[arg(long, value_name = "SERVER")]
    server: Vec<String>,
    /// Search only these kinds
    #[arg(long = "in", value_enum, value_name = "KIND")]
    kinds: Vec<KindArg>,
    /// Show complete descriptions
    #[arg(long, conflicts_with = "names")]
    full: bool,
    /// Show only names
    #[arg(long)]
    names: bool,
    /// Maximum number of results
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    limit: usize,
    /// Call the search tool of the servers given by --server
    #[arg(long, requires = "server", conflicts_with_all = ["kinds", "full", "names"])]
    call: bool,
}

/// A kind of item to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindArg {
    Tools,
    Resources,
    Prompts,
}

impl Search {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let selected = select(cx, &self.server)?;
        selected.warn_untrusted(cx);
        let query = self.query.join(" ");
        let timeout = cx.timeout().unwrap_or(DEFAULT_TIMEOUT);
        if self.call {
            return fleet::call_search_tools(cx, &selected.targets, &query, self.limit).await;
        }
        let results = async { Ok(run_on_all(cx, &selected.targets, timeout, collect_items).await) };
        let results = interruptible(results).await?;
        let mut items = Vec::new();
        let mut failures = Vec::new();
        for result in results {
            let name = result.name;
            failures.push(match result.result {
                Ok(found) => {
                    items.extend(found.into_iter().map(|item| SearchItem {
                        server: name.clone(),
                        ..item
                    }));
                    None
                }
                Err(failure) => {
                    let failure = failure.with_prefix(&name);
                    let note = format!("not searched: {}", escape_control(&failure.message));
                    cx.output.note(note);
                    Some(failure)
                }
            });
        }
        items.retain(|item| self.includes(item.kind));
        self.print_results(cx, &rank(items, &query))?;
        selected.require_any(failures)
    }

    fn includes(&self, kind: ItemKind) -> bool {
        let kind_arg = match kind {
            ItemKind::Tool => KindArg::Tools,
            ItemKind::Resource | ItemKind::Template => KindArg::Resources,
            ItemKind::Prompt => KindArg::Prompts,
        };
        self.kinds.is_empty() || self.kinds.contains(&kind_arg)
    }

    fn print_results(&self, cx: &Context, found: &[SearchItem]) -> Result<(), Failure> {
        let visible = &found[..found.len().min(self.limit)];
        if cx.json() {
            let results: Vec<_> = visible.iter().map(to_json).collect();
            return cx
                .output
                .json(&json!({"results": results, "total": found.len()}));
        }
        for item in visible {
            cx.output.line(self.format_item(cx.output.paint(), item))?;
        }
        match found.len() - visible.len() {
            0 if found.is_empty() => cx.output.note("no matches"),
            0 => {}
            more => cx
                .output
                .note(format!("… and {more} more; raise --limit to see them")),
        }
        Ok(())
    }

    fn format_item(&self, paint: Paint, item: &SearchItem) -> String {
        let name = match item.kind {
            ItemKind::Tool => format!("{}.{}", item.server, item.name),
            _ => format!("{} {}", item.server, item.name),
        };
        let name = escape_name(&name).into_owned();
        if self.names {
            return name;
        }
        let kind = match item.kind {
            ItemKind::Tool => "tool",
            ItemKind::Resource => "resource",
            ItemKind::Template => "template",
            ItemKind::Prompt => "prompt",
        };
        let heading = format!("{}  {}", paint.bold(name), paint.text(Style::Type, kind));
        let summary = item.description.as_ref().or(item.title.as_ref());
        let summary = summary
            .map(|summary| escape_control(summary).into_owned())
            .unwrap_or_default();
        let summary = match self.full {
            true => summary.replace('\n', "\n    "),
            false => first_line(&summary),
        };
        format!("{heading}\n    {summary}").trim_end().to_owned()
    }
}

/// Returns the first line, shortened.
fn first_line(text: &str) -> String {
    const MAX_CHARS: usize = 96;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn to_json(item: &SearchItem) -> Value {
    json!({
        "server": item.server,
        "kind": item.kind,
        "name": item.name,
        "definition": item.definition,
    })
}

/// Collects everything a server offers.
async fn collect_items(client: Client) -> Result<Vec<SearchItem>, Failure> {
    let (tools, resources, templates, prompts) = tokio::join!(
        client.tools().list(),
        client.resources().list(),
        client.resources().templates(),
        client.prompts().list(),
    );
    let mut items = Vec::new();
    for tool in or_empty(tools)? {
        items.push(tool_item(&tool));
    }
    for resource in or_empty(resources)? {
        items.push(resource_item(&resource));
    }
    for template in or_empty(templates)? {
        items.push(template_item(&template));
    }
    for prompt in or_empty(prompts)? {
        items.push(prompt_item(&prompt));
    }
    Ok(items)
}

fn tool_item(tool: &Tool) -> SearchItem {
    let texts = (&tool.title, &tool.description);
    item(ItemKind::Tool, &tool.name, texts, tool)
}

fn resource_item(resource: &Resource) -> SearchItem {
    let title = resource.title.clone().or(Some(resource.name.clone()));
    let texts = (&title, &resource.description);
    item(ItemKind::Resource, &resource.uri, texts, resource)
}

fn template_item(template: &ResourceTemplate) -> SearchItem {
    let title = template.title.clone().or(Some(template.name.clone()));
    let texts = (&title, &template.description);
    item(ItemKind::Template, &template.uri_template, texts, template)
}

fn prompt_item(prompt: &Prompt) -> SearchItem {
    let texts = (&prompt.title, &prompt.description);
    item(ItemKind::Prompt, &prompt.name, texts, prompt)
}

fn item(
    kind: ItemKind,
    name: &str,
    (title, description): (&Option<String>, &Option<String>),
    definition: &impl Serialize,
) -> SearchItem {
    SearchItem {
        server: String::new(),
        kind,
        name: name.to_owned(),
        title: title.clone(),
        description: description.clone(),
        definition: serde_json::to_value(definition).unwrap_or_default(),
    }
}
