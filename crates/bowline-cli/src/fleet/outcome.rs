//! Whether a command that runs on all servers succeeded.

use super::selection::SelectedServers;
use crate::{failure::Failure, target::Target};

impl SelectedServers {
    /// Returns the failure of a command that needs one working server. It fails
    /// if none of the selected servers worked; `failures` holds each server's
    /// failure, if any, in order.
    pub(crate) fn require_any(
        &self,
        failures: impl IntoIterator<Item = Option<Failure>>,
    ) -> Result<(), Failure> {
        let mut targets = self.targets.iter();
        // The built-in server stands in for missing servers, not for broken
        // ones.
        if self.has_broken_entries && targets.all(|target| matches!(target, Target::Demo)) {
            return Err(broken_entries_failure());
        }
        let mut first = None;
        for failure in failures.into_iter().take(self.targets.len()) {
            match failure {
                Some(failure) => drop(first.get_or_insert(failure)),
                None => return Ok(()),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Returns the failure of a command that needs all servers. It fails if one
    /// of them did.
    pub(crate) fn require_all(&self, failure: Option<Failure>) -> Result<(), Failure> {
        match failure {
            Some(failure) => Err(failure),
            None if self.has_broken_entries => Err(broken_entries_failure()),
            None => Ok(()),
        }
    }
}

/// The entries themselves were reported before.
fn broken_entries_failure() -> Failure {
    Failure::usage("some servers have invalid entries and cannot be used")
        .hint("`bowline servers` shows what is wrong with them")
}
