//! The tools of all servers that are known.

use bowline::proto::model::{Members, Tool};
use serde_json::json;

use super::{together::together, tools};
use crate::{
    context::Context,
    failure::Failure,
    output::clean,
    signature::{first_sentence, shorten, width},
    target::{self, Servers, Target},
    verbs::raw::{Listed, encode},
};

/// Lists the tools of all servers, at the same time. A server that fails is
/// told of; it is a failure only if all do.
pub(super) async fn list(cx: &Context) -> Result<(), Failure> {
    let targets = targets(cx)?;
    let listed = targets.iter().map(|target| of_server(cx, target));
    let listed = target::interruptible(async { Ok(together(listed).await) }).await?;
    let listed: Vec<_> = targets.iter().map(Target::name).zip(listed).collect();
    match cx.json() {
        true => print_json(cx, &listed)?,
        false => print(cx, &listed)?,
    }
    let any = listed.iter().any(|(_, listed)| listed.is_ok());
    let failure = listed.into_iter().find_map(|(_, listed)| listed.err());
    match failure {
        Some(failure) if !any => Err(failure),
        _ => Ok(()),
    }
}

/// Those of configuration files, and the one that is built in.
fn targets(cx: &Context) -> Result<Vec<Target>, Failure> {
    let servers = Servers::find(&cx.globals)?;
    let configured = servers.effective();
    let mut targets: Vec<_> = configured
        .map(|found| Target::Configured(Box::new(found.clone())))
        .collect();
    if targets.iter().all(|target| target.name() != target::DEMO) {
        targets.push(Target::Demo);
    }
    Ok(targets)
}

async fn of_server(cx: &Context, target: &Target) -> Result<Listed<Tool>, Failure> {
    let client = target::open(cx, target).await?;
    let listed = tools(&client).await;
    client.stop().await;
    listed.map_err(|failure| failure.about(target.name()))
}

fn print(cx: &Context, listed: &[(&str, Result<Listed<Tool>, Failure>)]) -> Result<(), Failure> {
    let paint = cx.output.paint();
    let mut lines = Vec::new();
    let names = listed.iter().filter_map(|(_, listed)| listed.as_ref().ok());
    let names = names.flat_map(|listed| listed.items.iter());
    let column = names.map(|tool| tool.name.chars().count()).max();
    let column = column.unwrap_or_default().min(30);
    for (server, listed) in listed {
        let listed = match listed {
            Ok(listed) => listed,
            Err(failure) => {
                let mark = cx.output.remark_paint().error("failed:");
                cx.output
                    .remark(format!("{mark} {}", clean(&failure.message)));
                continue;
            }
        };
        let count = match listed.items.len() {
            0 => "no tools".to_owned(),
            1 => "1 tool".to_owned(),
            count => format!("{count} tools"),
        };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("{} {}", paint.strong(server), paint.faint(count)));
        for tool in &listed.items {
            let gap = " ".repeat(column.saturating_sub(tool.name.chars().count()));
            let about = first_sentence(tool.description.as_deref().unwrap_or_default());
            let about = shorten(&about, width().saturating_sub(column + 4));
            let line = format!("  {}{gap}  {}", clean(&tool.name), paint.faint(about));
            lines.push(line.trim_end().to_owned());
        }
    }
    match lines.is_empty() {
        true => Ok(()),
        false => cx.output.line(lines.join("\n")),
    }
}

fn print_json(
    cx: &Context,
    listed: &[(&str, Result<Listed<Tool>, Failure>)],
) -> Result<(), Failure> {
    let mut all = Members::new();
    for (server, listed) in listed {
        let found = match listed {
            Ok(listed) => listed.json()?,
            Err(failure) => encode(&json!({"error": failure.message}))?,
        };
        all.insert((*server).to_owned(), found);
    }
    cx.output.verbatim(encode(&all)?.get())
}
