//! What every verb has at hand: the options that all share, and the output.

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::{
    args::Globals,
    failure::{Failure, FailureKind},
    interaction::Responder,
    output::Output,
    shutdown::Shutdown,
    target,
};

/// How much longer than its time a command may take, so that what has a limit
/// of its own can say how it ended.
const TIMEOUT_GRACE: Duration = Duration::from_millis(100);

/// What every verb has at hand.
pub(crate) struct Context {
    pub(crate) globals: Globals,
    pub(crate) output: Output,
    /// Where the questions of servers are answered.
    pub(crate) responder: Arc<Responder>,
    /// What has to end before the command does.
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

    /// The same with other options. What has to end before the command does is
    /// still waited for.
    pub(crate) fn with_globals(&self, globals: Globals) -> Self {
        Self {
            shutdown: self.shutdown.clone(),
            ..Self::new(globals)
        }
    }

    /// Whether programs read the results, rather than people.
    pub(crate) fn json(&self) -> bool {
        self.globals.json
    }

    /// How long the command may take, if that was said.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.globals.timeout
    }

    /// Does something until it is done, or the time of the command is over,
    /// which is then the failure.
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

    /// How much of the command's time is left, if that has an end. A call that
    /// is given this much ends by itself, and in good order.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let remaining = self.timeout()?.saturating_sub(self.globals.clock.elapsed());
        Some(remaining.max(Duration::from_millis(1)))
    }

    /// Says on standard error what went wrong, and gives the exit code.
    pub(crate) fn report(&self, failure: &Failure) -> ExitCode {
        if failure.kind != FailureKind::BrokenPipe {
            self.output.print_failure(failure);
        }
        failure.exit_code()
    }
}
