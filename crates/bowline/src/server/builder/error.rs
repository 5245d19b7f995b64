//! Errors of building a server.

use std::fmt;

/// The error returned if a server cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    kind: &'static str,
    name: String,
    reason: String,
}

impl BuildError {
    pub(crate) fn new(kind: &'static str, name: &str, why: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            reason: why.to_owned(),
        }
    }

    /// Returns the name of the invalid item.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            name,
            reason: why,
        } = self;
        write!(f, "the {kind} {name:?} cannot be served: {why}")
    }
}

impl std::error::Error for BuildError {}
