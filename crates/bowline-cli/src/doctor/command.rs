//! The program that starts a server: whether it is there and can be run.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use bowline::config::Endpoint;

use super::{
    advice,
    report::{Report, Stopped},
};
use crate::{
    failure::{Failure, FailureKind},
    target::Target,
};

const LAYER: &str = "command";

/// What is looked for.
struct ProgramSearch<'a> {
    command: &'a str,
    /// Where the server runs.
    cwd: Option<&'a Path>,
    /// Where programs are looked for.
    path: OsString,
}

pub(super) fn examine(target: &Target, report: &mut Report<'_>) -> Result<(), Stopped> {
    let Some(search) = program_search(target) else {
        report.ok(LAYER, None, "none: it is part of this command");
        return Ok(());
    };
    if let Some(cwd) = search.cwd.filter(|cwd| !cwd.is_dir()) {
        let message = format!(
            "the folder in which it should run is not there: {}",
            cwd.display()
        );
        let failure = Failure::new(FailureKind::Unreachable, message);
        return report.failed(
            LAYER,
            None,
            failure.hint("make the folder, or correct `cwd`"),
        );
    }
    match find_program(&search) {
        SearchResult::Program(program) => {
            report.ok(LAYER, None, program.display().to_string());
            Ok(())
        }
        SearchResult::NotExecutable(file) => {
            let message = format!("{} is there, but may not be run", file.display());
            let failure = Failure::new(FailureKind::Unreachable, message)
                .hint(format!("make it executable: chmod +x {}", file.display()));
            report.failed(LAYER, None, failure)
        }
        SearchResult::NotFound => {
            let command = search.command;
            let message = match is_path(command) {
                true => format!("{command} is not there"),
                false => format!("no program `{command}` is in the folders of PATH"),
            };
            let failure = Failure::new(FailureKind::Unreachable, message);
            report.failed(
                LAYER,
                None,
                failure.hint(advice::for_missing_program(command)),
            )
        }
    }
}

fn program_search(target: &Target) -> Option<ProgramSearch<'_>> {
    let path = || env::var_os("PATH").unwrap_or_default();
    match target {
        Target::Demo | Target::Url(_) => None,
        Target::Command(words) => Some(ProgramSearch {
            command: words.first()?,
            cwd: None,
            path: path(),
        }),
        Target::Configured(found) => {
            let Endpoint::Stdio(server) = &found.entry.endpoint else {
                return None;
            };
            let entry_path = server.env.get("PATH").map(OsString::from);
            Some(ProgramSearch {
                command: &server.command,
                cwd: server.cwd.as_deref(),
                path: entry_path.unwrap_or_else(path),
            })
        }
    }
}

enum SearchResult {
    Program(PathBuf),
    NotExecutable(PathBuf),
    NotFound,
}

/// Looks for a program as the system does.
fn find_program(search: &ProgramSearch<'_>) -> SearchResult {
    if is_path(search.command) {
        let path = match search.cwd {
            Some(cwd) => cwd.join(search.command),
            None => PathBuf::from(search.command),
        };
        return classify(path).unwrap_or(SearchResult::NotFound);
    }
    let mut best = SearchResult::NotFound;
    for folder in env::split_paths(&search.path) {
        for name in executable_names(search.command) {
            match classify(folder.join(name)) {
                Some(found @ SearchResult::Program(_)) => return found,
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
fn executable_names(command: &str) -> Vec<String> {
    if cfg!(windows) && Path::new(command).extension().is_none() {
        return ["exe", "cmd", "bat", "com"]
            .map(|extension| format!("{command}.{extension}"))
            .into();
    }
    vec![command.to_owned()]
}

/// Whether a file can be run, if it is there.
fn classify(file: PathBuf) -> Option<SearchResult> {
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(match is_executable(&metadata) {
        true => SearchResult::Program(file),
        false => SearchResult::NotExecutable(file),
    })
}

#[cfg(unix)]
fn is_executable(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}
