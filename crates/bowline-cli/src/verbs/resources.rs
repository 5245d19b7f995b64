//! `bowline resources`.

use bowline::proto::model::{Resource, method};
use clap::Args;

use crate::{
    context::Context,
    failure::Failure,
    output::{clean, clean_name},
    signature::{first_sentence, shorten, width},
    target::{self, ServerArgs},
    verbs::raw,
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
            return cx.output.verbatim(listed.json()?.get());
        }
        let rows: Vec<_> = listed.items.iter().map(row).collect();
        print(cx, target.name(), "resources", &rows)
    }
}

fn row(resource: &Resource) -> (&str, String) {
    let size = resource.size.map(|size| format!("{size} bytes"));
    let facts = [resource.mime_type.clone(), size];
    let title = resource.title.as_ref().unwrap_or(&resource.name);
    let about = about(title, resource.description.as_deref(), facts);
    (&resource.uri, about)
}

/// What there is to say of a resource or a template, on one line.
pub(super) fn about(
    title: &str,
    description: Option<&str>,
    facts: impl IntoIterator<Item = Option<String>>,
) -> String {
    let mut about = title.to_owned();
    let description = first_sentence(description.unwrap_or_default());
    if !description.is_empty() && description != title {
        about = format!("{about}: {description}");
    }
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        about = format!("{about} ({})", facts.join(", "));
    }
    about
}

/// Prints addresses and what there is to say of each.
pub(super) fn print(
    cx: &Context,
    server: &str,
    what: &str,
    rows: &[(&str, String)],
) -> Result<(), Failure> {
    if rows.is_empty() {
        cx.output.remark(format!("{server} has no {what}"));
        return Ok(());
    }
    let paint = cx.output.paint();
    let widest = rows.iter().map(|(uri, _)| uri.chars().count()).max();
    let column = widest.unwrap_or_default().min(width() / 2);
    let lines = rows.iter().map(|(uri, about)| {
        let gap = " ".repeat(column.saturating_sub(uri.chars().count()));
        let about = shorten(about, width().saturating_sub(column + 2));
        format!(
            "{}{gap}  {}",
            paint.strong(clean_name(uri)),
            paint.faint(clean(&about))
        )
    });
    let lines: Vec<_> = lines.collect();
    cx.output.line(lines.join("\n"))
}
