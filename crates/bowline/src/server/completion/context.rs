//! What a function that completes has at hand.

use std::{fmt, ops::Deref};

use crate::server::{ServerContext, template::string_map::StringMap};

/// What is known while something is typed: the other arguments that are filled
/// in already, and all that a [`ServerContext`] has.
pub struct CompletionContext<S = ()> {
    context: ServerContext<S>,
    arguments: StringMap,
}

impl<S> CompletionContext<S> {
    pub(super) fn new(context: ServerContext<S>, arguments: StringMap) -> Self {
        Self { context, arguments }
    }

    /// Another argument, as it is filled in. Clients of old revisions do not
    /// tell.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// All that is filled in, in the order of the names.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        let arguments = self.arguments.iter();
        arguments.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<S> Deref for CompletionContext<S> {
    type Target = ServerContext<S>;

    fn deref(&self) -> &ServerContext<S> {
        &self.context
    }
}

impl<S> fmt::Debug for CompletionContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut context = f.debug_struct("CompletionContext");
        context
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}
