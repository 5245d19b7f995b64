//! What every verb has at hand: the options that all share, and the output.

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::{
    args::Globals,
    departure::Departure,
    failure::{Failure, FailureKind},
    output::Output,
    talk::Desk,
};

/// What every verb has at hand.
pub(crate) struct Context {
    pub(crate) globals: Globals,
    pub(crate) output: Output,
    /// Where the questions of servers are answered.
    pub(crate) talk: Arc<Desk>,
    /// What has to end before the command does.
    pub(crate) departure: Departure,
}

impl Context {
    pub(crate) fn new(globals: Globals) -> Self {
        let output = Output::new(globals.color);
        let talk = Arc::new(Desk::new(&globals, &output));
        Self {
            globals,
            output,
            talk,
            departure: Departure::default(),
        }
    }

    /// Whether programs read the results, rather than people.
    pub(crate) fn json(&self) -> bool {
        self.globals.json
    }

    /// How long a call may take, if that was said.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.globals.timeout
    }

    /// Says on standard error what went wrong, and gives the exit code.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        if failure.kind != FailureKind::BrokenPipe {
            self.output.failure(failure);
        }
        failure.exit_code()
    }
}
