//! Errors of building a server.

use std::fmt;

/// The error returned if a server cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    subject: Subject,
    name: String,
    reason: String,
}

/// What is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// An item of this kind.
    Item(&'static str),
    /// A setting of the server.
    Setting,
}

impl BuildError {
    pub(crate) fn new(kind: &'static str, name: &str, why: &str) -> Self {
        Self {
            subject: Subject::Item(kind),
            name: name.to_owned(),
            reason: why.to_owned(),
        }
    }

    /// A setting is missing. `why` names it and says what to do.
    pub(crate) fn setting(name: &str, why: &str) -> Self {
        Self {
            subject: Subject::Setting,
            name: name.to_owned(),
            reason: why.to_owned(),
        }
    }

    /// Returns the name of the invalid item, or of the setting of
    /// [`Server`](crate::server::Server) that is missing.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            subject,
            name,
            reason,
        } = self;
        match subject {
            Subject::Item(kind) => write!(f, "the {kind} {name:?} cannot be served: {reason}"),
            Subject::Setting => write!(f, "the server cannot be built: {reason}"),
        }
    }
}

impl std::error::Error for BuildError {}
