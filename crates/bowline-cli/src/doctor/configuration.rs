//! Checks the configuration of a server.

use std::path::Path;

use super::report::{Report, Stopped};
use crate::{
    context::Context,
    output::short_path,
    target::{DEMO, Servers, Target},
};

const LAYER: &str = "configuration";

pub(super) fn examine(
    cx: &Context,
    target: &Target,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let found = match target {
        Target::Configured(found) => found,
        Target::Demo => {
            report.ok(LAYER, None, "not needed: built in");
            return report_shadowing(cx, DEMO, None, report);
        }
        Target::Url(_) | Target::Command(_) => {
            report.ok(LAYER, None, "not needed: given on the command line");
            return Ok(());
        }
    };
    let app = found.app.map(|app| format!(" of {}", app.name()));
    let file = short_path(&found.path);
    report.ok(LAYER, None, format!("{file}{}", app.unwrap_or_default()));
    let servers = match Servers::load(&cx.globals) {
        Ok(servers) => servers,
        Err(failure) => return report.failed(LAYER, None, failure),
    };
    let name = Some(found.entry.name.as_str());
    let problems = servers
        .problems
        .iter()
        .filter(|(path, problem)| *path == found.path && problem.server.as_deref() == name);
    for (_, problem) in problems {
        let location = match problem.position {
            Some(position) => format!("{} (line {})", problem.path, position.line),
            None => problem.path.clone(),
        };
        report.warning(
            LAYER,
            format!("{location}: {}", problem.message()),
            problem.advice(),
        );
    }
    report_shadowing(cx, &found.entry.name, Some(&found.path), report)
}

/// Warns about servers of the same name in other files, which are not used.
fn report_shadowing(
    cx: &Context,
    name: &str,
    path: Option<&Path>,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let servers = match Servers::load(&cx.globals) {
        Ok(servers) => servers,
        Err(failure) => return report.failed(LAYER, None, failure),
    };
    let others = servers
        .entries
        .iter()
        .filter(|other| other.entry.name == name && Some(other.path.as_path()) != path);
    for other in others {
        let file = short_path(&other.path);
        report.warning(
            LAYER,
            format!("{file} has a server of the same name, which is not used"),
            "rename or remove one of them",
        );
    }
    Ok(())
}
