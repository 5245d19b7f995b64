//! Identifiers for what servers offer, without collisions.

use std::collections::HashMap;

use crate::error::GenerateError;

/// The identifiers of one scope, with the names that they stand for.
#[derive(Debug)]
pub(crate) struct Scope {
    what: String,
    taken: HashMap<String, String>,
}

impl Scope {
    /// Returns an empty scope. `what` says what its identifiers name, in the plural.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            taken: HashMap::new(),
        }
    }

    /// Takes an identifier for a name.
    pub(crate) fn take(&mut self, name: &str, identifier: &str) -> Result<(), GenerateError> {
        match self.taken.insert(identifier.to_owned(), name.to_owned()) {
            None => Ok(()),
            Some(other) => Err(GenerateError::Collision {
                what: self.what.clone(),
                names: [other, name.to_owned()],
                identifier: identifier.to_owned(),
            }),
        }
    }
}

/// Adds a number to an identifier until it is free.
pub(crate) fn numbered(identifier: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{identifier}_{number}"));
    let mut candidates = std::iter::once(identifier.to_owned()).chain(numbered);
    let free = candidates.find(|candidate| is_free(candidate));
    free.unwrap_or_else(|| identifier.to_owned())
}
