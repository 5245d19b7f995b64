//! The command that starts a server.

use std::{env, ffi::OsString};

use super::arguments::Plan;
use crate::Failure;

/// What is put before the command of the server, if it is set: words that are
/// split at spaces. So the server alone can run under valgrind.
const PREFIX: &str = "BENCH_SERVER_PREFIX";

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    /// Whether something watches the server, and it may take long to end.
    pub(crate) watched: bool,
}

impl Start {
    /// Starts the server of this plan, which is a part of this program.
    pub(crate) fn of(plan: &Plan) -> Result<Self, Failure> {
        let here = env::current_exe().map_err(|error| error.to_string())?;
        let prefix = env::var(PREFIX).unwrap_or_default();
        let mut words: Vec<OsString> = prefix.split_whitespace().map(OsString::from).collect();
        let watched = !words.is_empty();
        words.push(here.into_os_string());
        words.extend(["stdio", "serve", &plan.server, "--bytes"].map(OsString::from));
        words.push(plan.bytes.to_string().into());
        Ok(Self {
            program: words.remove(0),
            arguments: words,
            watched,
        })
    }

    /// For clients that start processes with the standard library.
    pub(crate) fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}
