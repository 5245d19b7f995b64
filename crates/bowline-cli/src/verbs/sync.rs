//! `bowline sync`.

use std::io::{BufRead as _, IsTerminal as _, stderr, stdin};

use bowline::{Client, proto::model::Tool};
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    fleet::{ERRAND, SYNC, choose, show_result, visit_one},
    output::{clean, clean_name},
    target::{Target, interruptible},
};

/// Ask servers to bring themselves up to date
///
/// Calls the tool `sync_repository` of each server, or another whose name
/// begins with `sync`.
#[derive(Args, Debug)]
pub(crate) struct Sync {
    /// The servers; all that are configured and can, unless given
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// The tool to call, where several fit
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Where several tools fit, call the first without asking
    #[arg(long, short)]
    yes: bool,
}

impl Sync {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let choice = choose(cx, &self.servers)?;
        choice.remark(cx);
        let limit = cx.timeout().unwrap_or(ERRAND);
        let named = !self.servers.is_empty();
        let (mut results, mut failed) = (Vec::new(), None);
        for target in &choice.targets {
            let synced = visit_one(cx, target, limit, async |client| {
                self.sync(cx, target, &client).await
            });
            match interruptible(synced).await {
                Ok(Some(result)) => results.push(result),
                Err(failure) if failure.is_from_outside() => return Err(failure),
                Ok(None) if named => return Err(SYNC.unclear(&[]).about(target.name())),
                Err(failure) if named => return Err(failure.about(target.name())),
                // Of all servers, those that can are meant.
                Ok(None) => {}
                Err(failure) => {
                    let failure = failure.about(target.name());
                    // The last is told at the end.
                    if let Some(other) = failed.replace(failure) {
                        cx.output.remark(clean(&other.message));
                    }
                }
            }
        }
        if cx.json() {
            cx.output.json(&json!({ "results": results }))?;
        }
        // What was not brought up to date was asked for all the same.
        choice.verdict_of_all(failed)?;
        match results.is_empty() {
            true => Err(Failure::failed("no server has a tool that syncs")),
            false => Ok(()),
        }
    }

    /// Calls the tool, if there is one.
    async fn sync(
        &self,
        cx: &Context,
        target: &Target,
        client: &Client,
    ) -> Result<Option<serde_json::Value>, Failure> {
        let tools = client.tools().list().await?;
        let fitting = match &self.tool {
            Some(name) => tools.iter().filter(|tool| tool.name == *name).collect(),
            None => SYNC.fitting(&tools),
        };
        let tool = match &fitting[..] {
            [] if self.tool.is_some() => return Err(SYNC.unclear(&[])),
            [] => return Ok(None),
            [tool] => tool,
            [first, ..] if self.yes => first,
            several => ask(cx, several).await?,
        };
        let name = clean_name(&tool.name).into_owned();
        cx.output
            .remark(format!("{}: calling {name}", target.name()));
        let result = client.tools().call(&tool.name, json!({})).await?;
        if result.failed() || !cx.json() {
            show_result(cx, target.name(), &result)?;
        }
        Ok(Some(
            json!({"server": target.name(), "tool": tool.name, "result": result}),
        ))
    }
}

/// Asks which of several tools is meant, where there is somebody to ask.
async fn ask<'a>(cx: &Context, several: &[&'a Tool]) -> Result<&'a Tool, Failure> {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(SYNC.unclear(several).hint("or take the first with --yes"));
    }
    cx.output.remark("Several tools might sync:");
    for (number, tool) in (1..).zip(several) {
        cx.output
            .remark(format!("  {number}. {}", clean_name(&tool.name)));
    }
    cx.output
        .remark("Which one? Its number, or nothing to leave:");
    let _pause = cx.globals.patience.pause();
    // On a thread of its own, so that Ctrl-C is heard meanwhile.
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.map_err(std::io::Error::other)??;
    let number: Option<usize> = answer.trim().parse().ok();
    let chosen = number.and_then(|number| several.get(number.checked_sub(1)?));
    chosen
        .copied()
        .ok_or_else(|| Failure::usage("nothing was chosen, and nothing was called"))
}
