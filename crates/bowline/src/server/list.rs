//! Lists, page by page, made once for all who are told the same.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use super::{catalog::Shelf, needs::Needs};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::ResultObject,
    revision::Revision,
    server::{CacheHint, RequestContext, encode_result, errors},
};

/// Something that stands in a list.
pub(crate) trait Listed: Clone {
    /// The page of a list.
    type Page: ResultObject;

    /// The name by which it is asked for.
    fn name(&self) -> &str;

    /// What a client must be able to do to be told of it.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// A page with these on it.
    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> Self::Page;
}

/// Who is told the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    revision: Revision,
    able: Needs,
}

/// How lists are cut.
#[derive(Clone, Debug)]
pub(crate) struct Paging {
    pub(crate) page_size: usize,
    pub(crate) hint: CacheHint,
}

impl<T: Listed> Shelf<T> {
    /// One page of the list, as this client may see it.
    ///
    /// # Errors
    ///
    /// Where the cursor is none of this list.
    pub(crate) fn list(
        &self,
        context: &RequestContext,
        cursor: Option<&str>,
        paging: &Paging,
    ) -> Result<RawJson, ErrorObject> {
        let asked_for = self.items().iter().map(T::needs);
        let asked_for = asked_for.fold(Needs::default(), Needs::union);
        let key = PageKey {
            revision: context.revision(),
            able: Needs::met_by(&context.client.capabilities).shared(asked_for),
        };
        let known = self.pages().get(&key).cloned();
        let pages = match known {
            Some(pages) => pages,
            None => self.prepare(context, key, paging)?,
        };
        let at = match cursor {
            None => 0,
            Some(cursor) => self.place(cursor).ok_or_else(errors::unknown_cursor)?,
        };
        pages.get(at).cloned().ok_or_else(errors::unknown_cursor)
    }

    fn prepare(
        &self,
        context: &RequestContext,
        key: PageKey,
        paging: &Paging,
    ) -> Result<Arc<[RawJson]>, ErrorObject> {
        let visible: Vec<&T> = self
            .items()
            .iter()
            .filter(|item| item.needs().without(key.able).is_empty())
            .collect();
        let cut: Vec<&[&T]> = visible.chunks(paging.page_size.max(1)).collect();
        let cut = if cut.is_empty() { vec![&[][..]] } else { cut };
        let last = cut.len() - 1;
        let pages: Result<Arc<[RawJson]>, _> = cut
            .into_iter()
            .enumerate()
            .map(|(at, items)| {
                let next = (at < last).then(|| self.cursor(at + 1));
                encode_result(context, T::page(items, next, &paging.hint))
            })
            .collect();
        let pages = pages.map_err(|error| errors::internal(&error.to_string()))?;
        self.pages().insert(key, Arc::clone(&pages));
        Ok(pages)
    }

    /// Where a page begins, in words that only this list understands: all
    /// nodes that serve the same list, and no list that was changed since.
    fn cursor(&self, page: usize) -> String {
        format!("{:016x}-{page}", self.fingerprint())
    }

    fn place(&self, cursor: &str) -> Option<usize> {
        let (list, page) = cursor.split_once('-')?;
        let same = list == format!("{:016x}", self.fingerprint());
        same.then(|| page.parse().ok())?
    }

    fn fingerprint(&self) -> u64 {
        // The keys of this hasher are fixed.
        let mut hasher = DefaultHasher::new();
        for item in self.items() {
            item.name().hash(&mut hasher);
        }
        hasher.finish()
    }
}
