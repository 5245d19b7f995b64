//! `bowline resources`.

use bowline::model::{Resource, method};
use clap::Args;

use crate::{
    commands::raw,
    context::Context,
    failure::Failure,
    output::{Column, escape_control, escape_name, shorten, terminal_width},
    signature::first_sentence,
    target::{self, ServerArgs},
};

/// List a server's resources
#[derive(Args, Debug)]
pub(crate) struct Resources {
    #[command(flatten)]
    server: ServerArgs,
}

impl Resources {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let target = self.server.target(cx)?;
        let listed = target::with_client(cx, &target, async |client| {
            raw::list::<Resource>(client, method::RESOURCES_LIST, "resources").await
        })
        .await?;
        if cx.json() {
            return cx.output.json_text(listed.json()?.get());
        }
        let rows: Vec<_> = listed.items.iter().map(row).collect();
        print(cx, target.name(), "resources", &rows)
    }
}

fn row(resource: &Resource) -> (&str, String) {
    let size = resource.size.map(|size| format!("{size} bytes"));
    let facts = [resource.mime_type.clone(), size];
    let title = resource.title.as_ref().unwrap_or(&resource.name);
    let summary = describe(title, resource.description.as_deref(), facts);
    (&resource.uri, summary)
}

/// Describes a resource or a template on one line.
pub(super) fn describe(
    title: &str,
    description: Option<&str>,
    facts: impl IntoIterator<Item = Option<String>>,
) -> String {
    let mut summary = title.to_owned();
    let description = first_sentence(description.unwrap_or_default());
    if !description.is_empty() && description != title {
        summary = format!("{summary}: {description}");
    }
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        summary = format!("{summary} ({})", facts.join(", "));
    }
    summary
}

/// Prints URIs with their descriptions.
pub(super) fn print(
    cx: &Context,
    server: &str,
    what: &str,
    rows: &[(&str, String)],
) -> Result<(), Failure> {
    if rows.is_empty() {
        cx.output.note(format!("{server} has no {what}"));
        return Ok(());
    }
    let paint = cx.output.paint();
    let uris: Vec<_> = rows.iter().map(|(uri, _)| escape_name(uri)).collect();
    let column = Column::of(&uris).max_width(terminal_width() / 2);
    let lines = uris.iter().zip(rows).map(|(uri, (_, summary))| {
        let uri = column.styled_cell(uri, paint.bold(uri));
        let summary = shorten(summary, terminal_width().saturating_sub(column.end()));
        format!("{uri}{}", paint.dim(escape_control(&summary)))
    });
    let lines: Vec<_> = lines.collect();
    cx.output.line(lines.join("\n"))
}
