//! `bowline sync`.

use std::io::{BufRead as _, IsTerminal as _, stderr, stdin};

use bowline::{Client, model::Tool};
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    fleet::{SYNC, TOOL_TIMEOUT, run_on_one, select, show_result},
    output::{escape_control, escape_name},
    target::{Target, interruptible},
};

/// Call the sync tool of servers
///
/// Calls the tool `sync_repository` of each server, or another tool whose name
/// begins with `sync`.
#[derive(Args, Debug)]
pub(crate) struct Sync {
    /// The servers; defaults to all configured servers that have such a tool
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// The tool to call if several match
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// If several tools match, call the first without asking
    #[arg(long, short)]
    yes: bool,
}

impl Sync {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let selected = select(cx, &self.servers)?;
        selected.warn_untrusted(cx);
        let timeout = cx.timeout().unwrap_or(TOOL_TIMEOUT);
        let is_named = !self.servers.is_empty();
        let (mut results, mut failed) = (Vec::new(), None);
        for target in &selected.targets {
            let synced = run_on_one(cx, target, timeout, async |client| {
                self.sync(cx, target, &client).await
            });
            match interruptible(synced).await {
                Ok(Some(result)) => results.push(result),
                Err(failure) if failure.is_external() => return Err(failure),
                Ok(None) if is_named => return Err(SYNC.ambiguity(&[]).with_prefix(target.name())),
                Err(failure) if is_named => return Err(failure.with_prefix(target.name())),
                // Without names, servers that have no such tool are skipped.
                Ok(None) => {}
                Err(failure) => {
                    let failure = failure.with_prefix(target.name());
                    // The last one is reported at the end.
                    if let Some(other) = failed.replace(failure) {
                        cx.output.note(escape_control(&other.message));
                    }
                }
            }
        }
        if cx.json() {
            cx.output.json(&json!({ "results": results }))?;
        }
        // Servers that could not be used were part of the request.
        selected.require_all(failed)?;
        match results.is_empty() {
            true => Err(Failure::failed("no server has a sync tool")),
            false => Ok(()),
        }
    }

    /// Calls the tool, if the server has one.
    async fn sync(
        &self,
        cx: &Context,
        target: &Target,
        client: &Client,
    ) -> Result<Option<serde_json::Value>, Failure> {
        let tools = client.tools().list().await?;
        let candidates = match &self.tool {
            Some(name) => tools.iter().filter(|tool| tool.name == *name).collect(),
            None => SYNC.candidates(&tools),
        };
        let tool = match &candidates[..] {
            [] if self.tool.is_some() => return Err(SYNC.ambiguity(&[])),
            [] => return Ok(None),
            [tool] => tool,
            [first, ..] if self.yes => first,
            several => choose_tool(cx, several).await?,
        };
        let name = escape_name(&tool.name).into_owned();
        cx.output.note(format!("{}: calling {name}", target.name()));
        let result = client.tools().call(&tool.name, json!({})).await?;
        if result.is_error() || !cx.json() {
            show_result(cx, target.name(), &result)?;
        }
        Ok(Some(
            json!({"server": target.name(), "tool": tool.name, "result": result}),
        ))
    }
}

/// Asks which of several tools to call, if there is a terminal.
async fn choose_tool<'a>(cx: &Context, candidates: &[&'a Tool]) -> Result<&'a Tool, Failure> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(SYNC
            .ambiguity(candidates)
            .hint("or call the first with --yes"));
    }
    cx.output.note("Several tools match:");
    for (number, tool) in (1..).zip(candidates) {
        cx.output
            .note(format!("  {number}. {}", escape_name(&tool.name)));
    }
    cx.output
        .note("Number of the tool to call (empty to cancel):");
    let _pause = cx.globals.clock.pause();
    // On a separate thread, so Ctrl-C still works.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.map_err(std::io::Error::other)??;
    let number: Option<usize> = answer.trim().parse().ok();
    let chosen = number.and_then(|number| candidates.get(number.checked_sub(1)?));
    chosen
        .copied()
        .ok_or_else(|| Failure::usage("no tool chosen; nothing was called"))
}
