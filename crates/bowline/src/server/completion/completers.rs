//! The functions that complete, by the name of what they complete.

use std::{collections::BTreeMap, future::Future, sync::Arc};

use super::{CompletionContext, Completions};
use crate::server::{
    error::Result,
    request::{Work, with_any_state},
    template::values::Texts,
};

/// What is typed so far.
pub(crate) struct Typed {
    pub(crate) text: String,
    /// What is known of the other arguments.
    pub(crate) arguments: Texts,
}

/// The functions that complete, by name.
pub(crate) struct Completers<S> {
    by_name: BTreeMap<String, Work<S, Typed, Completions>>,
}

impl<S: 'static> Completers<S> {
    pub(crate) fn add<F, W>(&mut self, name: &str, complete: F)
    where
        F: Fn(String, CompletionContext<S>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Completions>> + Send + 'static,
    {
        let work: Work<S, Typed, Completions> = Arc::new(move |typed: Typed, context| {
            let context = CompletionContext::new(context, typed.arguments);
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
        let work: Work<S, Typed, Completions> = Arc::new(move |typed: Typed, _| {
            let typed = typed.text.to_lowercase();
            let fits = |value: &&String| value.to_lowercase().starts_with(&typed);
            let fitting: Completions = values.iter().filter(fits).cloned().collect();
            Box::pin(async move { Ok(fitting) })
        });
        self.by_name.insert(name.to_owned(), work);
    }
}

impl<S> Completers<S> {
    pub(crate) fn get(&self, name: &str) -> Option<&Work<S, Typed, Completions>> {
        self.by_name.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

impl Completers<()> {
    pub(crate) fn with_any_state<S: 'static>(&self) -> Completers<S> {
        let all = self.by_name.iter();
        let all = all.map(|(name, work)| (name.clone(), with_any_state(Arc::clone(work))));
        Completers {
            by_name: all.collect(),
        }
    }
}

impl<S> Default for Completers<S> {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
        }
    }
}
