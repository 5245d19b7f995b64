//! The context passed to every command: global options and the output.

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::{
    args::Globals,
    failure::{Failure, FailureKind},
    interaction::Responder,
    output::Output,
    shutdown::Shutdown,
    target,
};

/// How far a command may exceed its timeout, so operations with their own limit
/// can report how they ended.
const TIMEOUT_GRACE: Duration = Duration::from_millis(100);

/// The context passed to every command.
pub(crate) struct Context {
    pub(crate) globals: Globals,
    pub(crate) output: Output,
    /// Answers questions from servers.
    pub(crate) responder: Arc<Responder>,
    /// Tracks what must end before the command does.
    pub(crate) shutdown: Shutdown,
}

impl Context {
    pub(crate) fn new(globals: Globals) -> Self {
        let output = Output::new(globals.color);
        let responder = Arc::new(Responder::new(&globals, &output));
        Self {
            globals,
            output,
            responder,
            shutdown: Shutdown::default(),
        }
    }

    /// Returns a context with other options. It shares the shutdown tracker.
    pub(crate) fn with_globals(&self, globals: Globals) -> Self {
        Self {
            shutdown: self.shutdown.clone(),
            ..Self::new(globals)
        }
    }

    /// Returns whether results are printed as JSON.
    pub(crate) fn json(&self) -> bool {
        self.globals.json
    }

    /// Returns the command's timeout, if one was given.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.globals.timeout
    }

    /// Runs a future until it completes or the command's timeout expires, which
    /// is a failure.
    pub(crate) async fn with_timeout<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        match self.timeout() {
            Some(limit) => {
                let result = self
                    .globals
                    .clock
                    .with_timeout(limit + TIMEOUT_GRACE, work)
                    .await;
                result.ok_or_else(|| target::timed_out(limit))
            }
            None => Ok(work.await),
        }
    }

    /// Returns how much of the command's time is left, if it is limited. A call
    /// with this timeout ends by itself, and cleanly.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let remaining = self.timeout()?.saturating_sub(self.globals.clock.elapsed());
        Some(remaining.max(Duration::from_millis(1)))
    }

    /// Prints a failure to standard error and returns the exit code.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        if failure.kind != FailureKind::BrokenPipe {
            self.output.print_failure(failure);
        }
        failure.exit_code()
    }
}
