//! Whether a command that goes to all servers has worked.

use super::selection::SelectedServers;
use crate::{failure::Failure, target::Target};

impl SelectedServers {
    /// The failure of a command for which one server is enough. It failed if
    /// none that was chosen worked; of each, in their order, `failures` says how
    /// it failed, if it did.
    pub(crate) fn require_any(
        &self,
        failures: impl IntoIterator<Item = Option<Failure>>,
    ) -> Result<(), Failure> {
        let mut targets = self.targets.iter();
        // What is built in stands in for what there is not, and not for what
        // cannot be used.
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

    /// The failure of a command that is about all servers. It failed if one of
    /// them did.
    pub(crate) fn require_all(&self, failure: Option<Failure>) -> Result<(), Failure> {
        match failure {
            Some(failure) => Err(failure),
            None if self.has_broken_entries => Err(broken_entries_failure()),
            None => Ok(()),
        }
    }
}

/// Which entries these are was said before.
fn broken_entries_failure() -> Failure {
    Failure::usage("there are servers whose entries are wrong, and cannot be used")
        .hint("`bowline servers` says what is wrong with them")
}
