//! Listing the tools of all configured servers.

use std::time::Duration;

use bowline::model::{Members, Tool};
use serde_json::json;

use super::tools;
use crate::{
    commands::raw::{RawList, encode},
    context::Context,
    failure::Failure,
    fleet::{run_on_all, select},
    output::{Column, escape_control, escape_name, shorten, terminal_width},
    signature::first_sentence,
    target::{self, Target},
};

/// Default timeout per server. It is long because some are downloaded first.
const SERVER_TIMEOUT: Duration = Duration::from_secs(30);

/// Lists the tools of all servers concurrently. Servers that fail are reported;
/// the command fails only if all configured servers do.
pub(super) async fn list(cx: &Context) -> Result<(), Failure> {
    let selected = select(cx, &[])?;
    let mut targets = selected.targets.clone();
    // The built-in server is listed last and does not affect the result.
    if targets.iter().all(|target| target.name() != target::DEMO) {
        targets.push(Target::Demo);
    }
    let timeout = cx.timeout().unwrap_or(SERVER_TIMEOUT);
    let results = run_on_all(cx, &targets, timeout, |client| async move {
        tools(&client).await
    });
    let results = target::interruptible(async { Ok(results.await) }).await?;
    selected.warn_untrusted(cx);
    let listed: Vec<_> = results
        .into_iter()
        .map(|result| (result.name, result.result))
        .collect();
    match cx.json() {
        true => print_json(cx, &listed)?,
        false => print(cx, &listed)?,
    }
    let failures = listed.into_iter().map(|(server, listed)| {
        let failure = listed.err()?;
        Some(failure.with_prefix(&server))
    });
    selected.require_any(failures)
}

fn print(cx: &Context, listed: &[(String, Result<RawList<Tool>, Failure>)]) -> Result<(), Failure> {
    let paint = cx.output.paint();
    let mut lines = Vec::new();
    let names = listed.iter().filter_map(|(_, listed)| listed.as_ref().ok());
    let names = names.flat_map(|listed| listed.items.iter());
    let column = Column::of(names.map(|tool| escape_name(&tool.name))).max_width(30);
    for (server, listed) in listed {
        let listed = match listed {
            Ok(listed) => listed,
            Err(failure) => {
                let mark = cx.output.note_paint().error("failed:");
                cx.output.note(format!(
                    "{mark} {server}: {}",
                    escape_control(&failure.message)
                ));
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
        lines.push(format!("{} {}", paint.bold(server), paint.dim(count)));
        for tool in &listed.items {
            let name = column.cell(&escape_name(&tool.name));
            let summary = first_sentence(tool.description.as_deref().unwrap_or_default());
            let summary = shorten(&summary, terminal_width().saturating_sub(2 + column.end()));
            let line = format!("  {name}{}", paint.dim(summary));
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
    listed: &[(String, Result<RawList<Tool>, Failure>)],
) -> Result<(), Failure> {
    let mut all = Members::new();
    for (server, listed) in listed {
        let found = match listed {
            Ok(listed) => listed.json()?,
            Err(failure) => encode(&json!({"error": failure.message}))?,
        };
        all.insert(server.clone(), found);
    }
    cx.output.json_text(encode(&all)?.get())
}
