//! Completion functions, by the name of what they complete.

use std::{collections::BTreeMap, future::Future, sync::Arc};

use super::{CompletionContext, Completions};
use crate::server::{
    HandlerContext, dispatch::request::ErasedHandler, error::Result,
    template::string_map::StringMap,
};

/// The text typed so far.
pub(crate) struct CompletionInput {
    pub(crate) prefix: String,
    /// The other arguments.
    pub(crate) arguments: StringMap,
}

#[derive(Default)]
pub(crate) struct Completers {
    by_name: BTreeMap<String, ErasedHandler<CompletionInput, Completions>>,
}

impl Completers {
    pub(crate) fn add<S, F, W>(&mut self, name: &str, complete: F)
    where
        S: 'static,
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        let handler: ErasedHandler<CompletionInput, Completions> =
            Arc::new(move |input: CompletionInput, context: HandlerContext| {
                let context = CompletionContext::new(context.for_state(), input.arguments);
                Box::pin(complete(input.prefix, context))
            });
        self.by_name.insert(name.to_owned(), handler);
    }

    pub(crate) fn add_fixed<T: Into<String>>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let handler: ErasedHandler<CompletionInput, Completions> =
            Arc::new(move |input: CompletionInput, _| {
                let input = input.prefix.to_lowercase();
                let matches = |value: &&String| value.to_lowercase().starts_with(&input);
                let matching: Completions = values.iter().filter(matches).cloned().collect();
                Box::pin(async move { Ok(matching) })
            });
        self.by_name.insert(name.to_owned(), handler);
    }
    pub(crate) fn get(&self, name: &str) -> Option<&ErasedHandler<CompletionInput, Completions>> {
        self.by_name.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}
