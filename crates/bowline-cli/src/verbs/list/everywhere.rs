//! The tools of all servers that are known.

use std::time::Duration;

use bowline::proto::model::{Members, Tool};
use serde_json::json;

use super::tools;
use crate::{
    context::Context,
    failure::Failure,
    fleet::{choose, visit},
    output::{clean, clean_name},
    signature::{first_sentence, shorten, width},
    target::{self, Target},
    verbs::raw::{Listed, encode},
};

/// How long each server may take, unless said otherwise: some are downloaded
/// first.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lists the tools of all servers, at the same time. A server that fails is
/// told of; it is a failure only if all do that are configured.
pub(super) async fn list(cx: &Context) -> Result<(), Failure> {
    let choice = choose(cx, &[])?;
    let mut targets = choice.targets.clone();
    // Listed at the end, it has no say in whether the others work.
    if targets.iter().all(|target| target.name() != target::DEMO) {
        targets.push(Target::Demo);
    }
    let limit = cx.timeout().unwrap_or(PATIENCE);
    let visits = visit(
        cx,
        &targets,
        limit,
        |client| async move { tools(&client).await },
    );
    let visits = target::interruptible(async { Ok(visits.await) }).await?;
    choice.remark(cx);
    let listed: Vec<_> = visits
        .into_iter()
        .map(|visit| (visit.name, visit.result))
        .collect();
    match cx.json() {
        true => print_json(cx, &listed)?,
        false => print(cx, &listed)?,
    }
    let failures = listed.into_iter().map(|(server, listed)| {
        let failure = listed.err()?;
        Some(failure.about(&server))
    });
    choice.verdict_of_any(failures)
}

fn print(cx: &Context, listed: &[(String, Result<Listed<Tool>, Failure>)]) -> Result<(), Failure> {
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
                    .remark(format!("{mark} {server}: {}", clean(&failure.message)));
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
            let line = format!("  {}{gap}  {}", clean_name(&tool.name), paint.faint(about));
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
    listed: &[(String, Result<Listed<Tool>, Failure>)],
) -> Result<(), Failure> {
    let mut all = Members::new();
    for (server, listed) in listed {
        let found = match listed {
            Ok(listed) => listed.json()?,
            Err(failure) => encode(&json!({"error": failure.message}))?,
        };
        all.insert(server.clone(), found);
    }
    cx.output.verbatim(encode(&all)?.get())
}
