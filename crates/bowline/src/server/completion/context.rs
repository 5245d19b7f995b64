//! The context of completion functions.

use std::{fmt, ops::Deref};

use crate::server::{HandlerContext, template::string_map::StringMap};

/// The context of a completion: the other arguments that are already filled in,
/// and everything a [`HandlerContext`] has.
pub struct CompletionContext<S = ()> {
    context: HandlerContext<S>,
    arguments: StringMap,
}

impl<S> CompletionContext<S> {
    pub(super) fn new(context: HandlerContext<S>, arguments: StringMap) -> Self {
        Self { context, arguments }
    }

    /// Returns the current value of another argument. Clients of old revisions
    /// do not send it.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// Returns all other arguments, sorted by name.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        let arguments = self.arguments.iter();
        arguments.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<S> Deref for CompletionContext<S> {
    type Target = HandlerContext<S>;

    fn deref(&self) -> &HandlerContext<S> {
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
