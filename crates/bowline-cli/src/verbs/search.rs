//! `bowline search`.

use std::time::Duration;

use bowline::{
    Client, Error,
    proto::model::{Prompt, Resource, ResourceTemplate, Tool},
};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    fleet::{self, Item, Kind, choose, lacks, rank, visit},
    output::{Paint, Style, clean, clean_name},
    target::interruptible,
};

/// How long a server may take to list everything, unless said otherwise.
const LIMIT: Duration = Duration::from_secs(5);

/// Search the tools, resources and prompts of all servers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline search flight                     everything that has to do with flights
  bowline search flight --in tools --names  only the names of tools, one a line
  bowline search 'book flight' --server demo
  bowline search knots --server notes --call  asks the server's own search tool")]
pub(crate) struct Search {
    /// The words to look for, in names and descriptions
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Search only this server; may be repeated
    #[arg(long, value_name = "SERVER")]
    server: Vec<String>,
    /// Search only among these
    #[arg(long = "in", value_enum, value_name = "KIND")]
    kinds: Vec<Among>,
    /// Show whole descriptions
    #[arg(long, conflicts_with = "names")]
    full: bool,
    /// Show only names
    #[arg(long)]
    names: bool,
    /// Show at most so many
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    limit: usize,
    /// Ask the search tool of the server that --server names
    #[arg(long, requires = "server", conflicts_with_all = ["kinds", "full", "names"])]
    call: bool,
}

/// What to search among.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Among {
    Tools,
    Resources,
    Prompts,
}

impl Search {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let choice = choose(cx, &self.server)?;
        choice.remark(cx);
        let query = self.query.join(" ");
        let limit = cx.timeout().unwrap_or(LIMIT);
        if self.call {
            return fleet::own_search(cx, &choice.targets, &query, self.limit).await;
        }
        let visits = async { Ok(visit(cx, &choice.targets, limit, gather).await) };
        let visits = interruptible(visits).await?;
        let mut items = Vec::new();
        let mut failures = Vec::new();
        for visit in visits {
            let name = visit.name;
            failures.push(match visit.result {
                Ok(found) => {
                    items.extend(found.into_iter().map(|item| Item {
                        server: name.clone(),
                        ..item
                    }));
                    None
                }
                Err(failure) => {
                    let failure = failure.about(&name);
                    let missing = format!("not searched: {}", clean(&failure.message));
                    cx.output.remark(missing);
                    Some(failure)
                }
            });
        }
        items.retain(|item| self.wants(item.kind));
        self.show(cx, &rank(items, &query))?;
        choice.verdict_of_any(failures)
    }

    fn wants(&self, kind: Kind) -> bool {
        let among = match kind {
            Kind::Tool => Among::Tools,
            Kind::Resource | Kind::Template => Among::Resources,
            Kind::Prompt => Among::Prompts,
        };
        self.kinds.is_empty() || self.kinds.contains(&among)
    }

    fn show(&self, cx: &Context, found: &[Item]) -> Result<(), Failure> {
        let shown = &found[..found.len().min(self.limit)];
        if cx.json() {
            let results: Vec<_> = shown.iter().map(document).collect();
            return cx
                .output
                .json(&json!({"results": results, "total": found.len()}));
        }
        for item in shown {
            cx.output.line(self.entry(cx.output.paint(), item))?;
        }
        match found.len() - shown.len() {
            0 if found.is_empty() => cx.output.remark("nothing was found"),
            0 => {}
            more => cx
                .output
                .remark(format!("… and {more} more; --limit shows them")),
        }
        Ok(())
    }

    fn entry(&self, paint: Paint, item: &Item) -> String {
        let name = match item.kind {
            Kind::Tool => format!("{}.{}", item.server, item.name),
            _ => format!("{} {}", item.server, item.name),
        };
        let name = clean_name(&name).into_owned();
        if self.names {
            return name;
        }
        let kind = match item.kind {
            Kind::Tool => "tool",
            Kind::Resource => "resource",
            Kind::Template => "template",
            Kind::Prompt => "prompt",
        };
        let head = format!("{}  {}", paint.strong(name), paint.text(Style::Type, kind));
        let about = item.description.as_ref().or(item.title.as_ref());
        let about = about
            .map(|about| clean(about).into_owned())
            .unwrap_or_default();
        let about = match self.full {
            true => about.replace('\n', "\n    "),
            false => first_line(&about),
        };
        format!("{head}\n    {about}").trim_end().to_owned()
    }
}

/// The first line, and not too much of it.
fn first_line(text: &str) -> String {
    const MOST: usize = 96;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn document(item: &Item) -> Value {
    json!({
        "server": item.server,
        "kind": item.kind,
        "name": item.name,
        "definition": item.definition,
    })
}

/// Everything that a server offers.
async fn gather(client: Client) -> Result<Vec<Item>, Failure> {
    let (tools, resources, templates, prompts) = tokio::join!(
        client.tools().list(),
        client.resources().list(),
        client.resources().templates(),
        client.prompts().list(),
    );
    let mut items = Vec::new();
    for tool in or_none(tools)? {
        items.push(of_tool(&tool));
    }
    for resource in or_none(resources)? {
        items.push(of_resource(&resource));
    }
    for template in or_none(templates)? {
        items.push(of_template(&template));
    }
    for prompt in or_none(prompts)? {
        items.push(of_prompt(&prompt));
    }
    Ok(items)
}

/// A server that lacks a kind of thing has none of it.
fn or_none<T>(listed: Result<Vec<T>, Error>) -> Result<Vec<T>, Failure> {
    match listed {
        Err(error) if lacks(&error) => Ok(Vec::new()),
        listed => Ok(listed?),
    }
}

fn of_tool(tool: &Tool) -> Item {
    let texts = (&tool.title, &tool.description);
    item(Kind::Tool, &tool.name, texts, tool)
}

fn of_resource(resource: &Resource) -> Item {
    let title = resource.title.clone().or(Some(resource.name.clone()));
    let texts = (&title, &resource.description);
    item(Kind::Resource, &resource.uri, texts, resource)
}

fn of_template(template: &ResourceTemplate) -> Item {
    let title = template.title.clone().or(Some(template.name.clone()));
    let texts = (&title, &template.description);
    item(Kind::Template, &template.uri_template, texts, template)
}

fn of_prompt(prompt: &Prompt) -> Item {
    let texts = (&prompt.title, &prompt.description);
    item(Kind::Prompt, &prompt.name, texts, prompt)
}

fn item(
    kind: Kind,
    name: &str,
    (title, description): (&Option<String>, &Option<String>),
    definition: &impl Serialize,
) -> Item {
    Item {
        server: String::new(),
        kind,
        name: name.to_owned(),
        title: title.clone(),
        description: description.clone(),
        definition: serde_json::to_value(definition).unwrap_or_default(),
    }
}
