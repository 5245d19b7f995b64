//! `bowline read`.

use bowline::{
    Client, RawJson, Reason,
    model::{ReadResourceResult, Resource, method},
};
use clap::Args;

use super::{
    list,
    raw::{encode, list as list_all, request},
};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    output::{ContentParts, FileContent, SaveArgs, print_parts},
    target::{self, Target, TargetWords},
};

/// Read a resource
#[derive(Args, Debug)]
#[command(
    override_usage = "bowline read <SERVER> <URI> [OPTIONS]\n       bowline read <URI> [OPTIONS] -- <COMMAND>…",
    after_help = "\
Text is printed as it is. Binary content is written to a pipe or a file, never to a terminal.

Examples:
  bowline read demo note:///hello
  bowline read demo note:///logo --out logo.png
  bowline read demo note:///logo | file -"
)]
pub(crate) struct Read {
    #[command(flatten)]
    words: TargetWords,
    #[command(flatten)]
    save: SaveArgs,
}

impl Read {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        self.save.check()?;
        let words = self.words.resolve(cx)?;
        let server = words.target.name();
        let uri = words.required_name("resource", |server| {
            format!("`bowline resources {server}` shows its resources")
        })?;
        if let Some(word) = words.rest.first() {
            return Err(Failure::usage(format!("unexpected argument `{word}`"))
                .hint("read one resource at a time"));
        }
        let raw = target::with_client(cx, &words.target, async |client| {
            read(client, &words.target, uri).await
        })
        .await?;
        let result: ReadResourceResult = raw
            .decode()
            .map_err(|error| Failure::failed(format!("{server}: invalid response: {error}")))?;
        let parts = ContentParts::from_contents(&result.contents);
        let name = uri.rsplit('/').next().unwrap_or_default();
        if cx.json() {
            cx.output.json_text(raw.get())?;
            return self.save.save(&cx.output, name, &parts.files);
        }
        print_contents(cx, name, parts, &self.save)
    }
}

async fn read(client: &Client, target: &Target, uri: &str) -> Result<RawJson, Failure> {
    let (server, shell_args) = (target.name(), target.to_shell_args());
    let params = [("uri", encode(uri)?)].into_iter().collect();
    let error = match request(client, method::RESOURCES_READ, params).await {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    let reason = error.reason();
    let failure = Failure::from(error).with_prefix(server);
    // Some servers have no separate code for a missing resource.
    if !matches!(reason, Reason::ResourceNotFound | Reason::InvalidParams) {
        return Err(failure);
    }
    let listed = list_all::<Resource>(client, method::RESOURCES_LIST, "resources").await;
    let listed = listed.map(|listed| listed.items).unwrap_or_default();
    if listed.iter().any(|resource| resource.uri == uri) {
        return Err(failure);
    }
    let known = listed.iter().map(|resource| resource.uri.as_str());
    let mut missing = list::not_found(server, "resource", uri, known).hint(format!(
        "`bowline resources {shell_args}` and `bowline templates {shell_args}` show what is \
         available"
    ));
    missing.kind = FailureKind::Failed;
    match reason {
        Reason::ResourceNotFound => Err(missing),
        _ => Err(missing.hint(format!("the server's message: {}", failure.message))),
    }
}

/// Prints a resource unchanged, so it can be piped.
fn print_contents(
    cx: &Context,
    name: &str,
    parts: ContentParts,
    save: &SaveArgs,
) -> Result<(), Failure> {
    if save.out.is_some() || cx.output.is_terminal() {
        if save.out.is_none() && !parts.files.is_empty() && parts.texts.is_empty() {
            let what = parts.files.first().map(FileContent::describe);
            let what = what.unwrap_or_default();
            return Err(Failure::usage(format!(
                "{what}: binary content is not printed to a \
                 terminal"
            ))
            .hint("save it with --out FILE, or pipe it to another program"));
        }
        return print_parts(&cx.output, name, parts, save);
    }
    if parts.is_empty() {
        cx.output.note("the resource is empty");
    }
    for text in &parts.texts {
        cx.output.bytes(text.as_bytes())?;
    }
    for file in &parts.files {
        cx.output.bytes(&file.bytes)?;
    }
    for what in &parts.unsupported {
        cx.output
            .note(format!("not shown: {what}; --json shows it"));
    }
    Ok(())
}
