//! The functions that complete, by the name of what they complete.

use std::{collections::BTreeMap, future::Future, sync::Arc};

use super::{CompletionContext, Completions};
use crate::server::{ServerContext, error::Result, request::Work, template::values::Texts};

/// What is typed so far.
pub(crate) struct Typed {
    pub(crate) text: String,
    /// What is known of the other arguments.
    pub(crate) arguments: Texts,
}

/// The functions that complete, by name.
#[derive(Default)]
pub(crate) struct Completers {
    by_name: BTreeMap<String, Work<Typed, Completions>>,
}

impl Completers {
    pub(crate) fn add<S, F, W>(&mut self, name: &str, complete: F)
    where
        S: 'static,
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        let work: Work<Typed, Completions> =
            Arc::new(move |typed: Typed, context: ServerContext| {
                let context = CompletionContext::new(context.for_state(), typed.arguments);
                Box::pin(complete(typed.text, context))
            });
        self.by_name.insert(name.to_owned(), work);
    }

    pub(crate) fn add_fixed<T: Into<String>>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let work: Work<Typed, Completions> = Arc::new(move |typed: Typed, _| {
            let typed = typed.text.to_lowercase();
            let fits = |value: &&String| value.to_lowercase().starts_with(&typed);
            let fitting: Completions = values.iter().filter(fits).cloned().collect();
            Box::pin(async move { Ok(fitting) })
        });
        self.by_name.insert(name.to_owned(), work);
    }
    pub(crate) fn get(&self, name: &str) -> Option<&Work<Typed, Completions>> {
        self.by_name.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}
