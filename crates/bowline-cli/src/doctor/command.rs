//! Checks the program that starts a server: whether it exists and is
//! executable.

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

/// The program to search for.
struct ProgramSearch<'a> {
    command: &'a str,
    /// The server's working directory.
    cwd: Option<&'a Path>,
    /// The `PATH` to search.
    path: OsString,
}

pub(super) fn examine(target: &Target, report: &mut Report<'_>) -> Result<(), Stopped> {
    let Some(search) = program_search(target) else {
        report.ok(LAYER, None, "not needed: built in");
        return Ok(());
    };
    if let Some(cwd) = search.cwd.filter(|cwd| !cwd.is_dir()) {
        let message = format!("working directory not found: {}", cwd.display());
        let failure = Failure::new(FailureKind::Unreachable, message);
        return report.failed(
            LAYER,
            None,
            failure.hint("create the directory, or fix `cwd`"),
        );
    }
    match find_program(&search) {
        SearchResult::Program(program) => {
            report.ok(LAYER, None, program.display().to_string());
            Ok(())
        }
        SearchResult::NotExecutable(file) => {
            let message = format!("{} is not executable", file.display());
            let failure = Failure::new(FailureKind::Unreachable, message)
                .hint(format!("make it executable: chmod +x {}", file.display()));
            report.failed(LAYER, None, failure)
        }
        SearchResult::NotFound => {
            let command = search.command;
            let message = match is_path(command) {
                true => format!("{command} not found"),
                false => format!("`{command}` not found on PATH"),
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

/// Searches for a program as the system does.
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

/// Returns the file names that a command may refer to.
fn executable_names(command: &str) -> Vec<String> {
    if cfg!(windows) && Path::new(command).extension().is_none() {
        return ["exe", "cmd", "bat", "com"]
            .map(|extension| format!("{command}.{extension}"))
            .into();
    }
    vec![command.to_owned()]
}

/// Returns whether a file is executable, if it exists.
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
