//! The program that starts a server: whether it is there and can be run.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use bowline::config::Endpoint;

use super::{
    advice,
    chart::{Chart, Ended},
};
use crate::{
    failure::{Failure, FailureKind},
    target::Target,
};

const LAYER: &str = "command";

/// What is looked for.
struct Wanted<'a> {
    command: &'a str,
    /// Where the server runs.
    cwd: Option<&'a Path>,
    /// Where programs are looked for.
    path: OsString,
}

pub(super) fn examine(target: &Target, chart: &mut Chart<'_>) -> Result<(), Ended> {
    let Some(wanted) = wanted(target) else {
        chart.good(LAYER, None, "none: it is part of this command");
        return Ok(());
    };
    if let Some(cwd) = wanted.cwd.filter(|cwd| !cwd.is_dir()) {
        let message = format!(
            "the folder in which it should run is not there: {}",
            cwd.display()
        );
        let failure = Failure::new(FailureKind::Unreachable, message);
        return chart.failed(
            LAYER,
            None,
            failure.hint("make the folder, or correct `cwd`"),
        );
    }
    match find(&wanted) {
        Found::Program(program) => {
            chart.good(LAYER, None, program.display().to_string());
            Ok(())
        }
        Found::NotExecutable(file) => {
            let message = format!("{} is there, but may not be run", file.display());
            let failure = Failure::new(FailureKind::Unreachable, message)
                .hint(format!("make it executable: chmod +x {}", file.display()));
            chart.failed(LAYER, None, failure)
        }
        Found::Nothing => {
            let command = wanted.command;
            let message = match is_path(command) {
                true => format!("{command} is not there"),
                false => format!("no program `{command}` is in the folders of PATH"),
            };
            let failure = Failure::new(FailureKind::Unreachable, message);
            chart.failed(
                LAYER,
                None,
                failure.hint(advice::of_missing_program(command)),
            )
        }
    }
}

fn wanted(target: &Target) -> Option<Wanted<'_>> {
    let path = || env::var_os("PATH").unwrap_or_default();
    match target {
        Target::Demo | Target::Url(_) => None,
        Target::Command(words) => Some(Wanted {
            command: words.first()?,
            cwd: None,
            path: path(),
        }),
        Target::Configured(found) => {
            let Endpoint::Stdio(server) = &found.entry.endpoint else {
                return None;
            };
            let own = server.env.get("PATH").map(OsString::from);
            Some(Wanted {
                command: &server.command,
                cwd: server.cwd.as_deref(),
                path: own.unwrap_or_else(path),
            })
        }
    }
}

enum Found {
    Program(PathBuf),
    NotExecutable(PathBuf),
    Nothing,
}

/// Looks for a program as the system does.
fn find(wanted: &Wanted<'_>) -> Found {
    if is_path(wanted.command) {
        let place = match wanted.cwd {
            Some(cwd) => cwd.join(wanted.command),
            None => PathBuf::from(wanted.command),
        };
        return judge(place).unwrap_or(Found::Nothing);
    }
    let mut best = Found::Nothing;
    for folder in env::split_paths(&wanted.path) {
        for name in names(wanted.command) {
            match judge(folder.join(name)) {
                Some(found @ Found::Program(_)) => return found,
                Some(found) => best = found,
                None => {}
            }
        }
    }
    best
}

fn is_path(command: &str) -> bool {
    command.contains(std::path::is_separator)
}

/// What a file may be called that a command starts.
fn names(command: &str) -> Vec<String> {
    if cfg!(windows) && Path::new(command).extension().is_none() {
        return ["exe", "cmd", "bat", "com"]
            .map(|ending| format!("{command}.{ending}"))
            .into();
    }
    vec![command.to_owned()]
}

/// Whether a file can be run, if it is there.
fn judge(file: PathBuf) -> Option<Found> {
    let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(match may_be_run(&about) {
        true => Found::Program(file),
        false => Found::NotExecutable(file),
    })
}

#[cfg(unix)]
fn may_be_run(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn may_be_run(_: &std::fs::Metadata) -> bool {
    true
}
