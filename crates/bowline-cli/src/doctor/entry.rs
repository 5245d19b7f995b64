//! What the configuration says of a server.

use std::path::Path;

use super::chart::{Chart, Ended};
use crate::{
    context::Context,
    output::short,
    target::{DEMO, Servers, Target},
};

const LAYER: &str = "configuration";

pub(super) fn examine(cx: &Context, target: &Target, chart: &mut Chart<'_>) -> Result<(), Ended> {
    let found = match target {
        Target::Configured(found) => found,
        Target::Demo => {
            chart.good(LAYER, None, "none: it is built in");
            return rivals(cx, DEMO, None, chart);
        }
        Target::Url(_) | Target::Command(_) => {
            chart.good(LAYER, None, "none: it was named on the command line");
            return Ok(());
        }
    };
    let app = found.app.map(|app| format!(" of {}", app.name()));
    let file = short(&found.path);
    chart.good(LAYER, None, format!("{file}{}", app.unwrap_or_default()));
    let servers = match Servers::find(&cx.globals) {
        Ok(servers) => servers,
        Err(failure) => return chart.failed(LAYER, None, failure),
    };
    let name = Some(found.entry.name.as_str());
    let problems = servers
        .problems
        .iter()
        .filter(|(path, problem)| *path == found.path && problem.server.as_deref() == name);
    for (_, problem) in problems {
        let place = match problem.position {
            Some(at) => format!("{} (line {})", problem.path, at.line),
            None => problem.path.clone(),
        };
        chart.warning(
            LAYER,
            format!("{place}: {}", problem.message()),
            problem.advice(),
        );
    }
    rivals(cx, &found.entry.name, Some(&found.path), chart)
}

/// Says which other files name a server alike, that is not used.
fn rivals(
    cx: &Context,
    name: &str,
    path: Option<&Path>,
    chart: &mut Chart<'_>,
) -> Result<(), Ended> {
    let servers = match Servers::find(&cx.globals) {
        Ok(servers) => servers,
        Err(failure) => return chart.failed(LAYER, None, failure),
    };
    let others = servers
        .found
        .iter()
        .filter(|other| other.entry.name == name && Some(other.path.as_path()) != path);
    for other in others {
        let file = short(&other.path);
        chart.warning(
            LAYER,
            format!("{file} names a server alike, which is not used"),
            "give one of them another name, or remove it",
        );
    }
    Ok(())
}
