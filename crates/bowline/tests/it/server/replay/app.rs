//! What the tools under test have at hand: a list of what happened.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline::server::{Result, form::Elicit};

/// The application: everything that has an effect is noted here, so that
/// tests can say what happened, and how often.
#[derive(Debug, Default)]
pub(crate) struct App {
    noted: Mutex<Vec<String>>,
}

/// The plainest form.
#[derive(Clone, Debug, Elicit, PartialEq)]
pub(crate) struct Text {
    /// Anything.
    pub(crate) text: String,
}

impl App {
    /// Something with an effect, which ends at once, and returns its name.
    pub(crate) async fn note(&self, what: &str) -> Result<String> {
        self.lock().push(what.to_owned());
        Ok(what.to_owned())
    }

    /// What happened so far.
    pub(crate) fn noted(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// How often each thing happened that happened more than once.
    pub(crate) fn repeated(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for what in self.noted() {
            *counts.entry(what).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
