//! Lists, page by page, made once for all who are told the same.

use std::sync::Arc;

use super::{
    catalog::{Catalog, Shelf},
    needs::Needs,
};
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::{CacheScope, ResultObject},
    revision::Revision,
    server::{CacheHint, Kind, RequestContext, encode_result, errors},
};

/// Something that stands in a list.
pub(crate) trait Listed: Clone {
    /// The page of a list.
    type Page: ResultObject;

    /// What it is, for people.
    const KIND: &'static str;
    /// What clients are told when the list changes.
    const LIST: Kind;
    /// What a server with such a list declares, as a path.
    const CAPABILITY: &'static str;
    /// How the list is asked for.
    const METHOD: &'static str;

    /// The name by which it is asked for.
    fn name(&self) -> &str;

    /// Why it cannot be served.
    fn problem(&self) -> Option<&str>;

    /// Whether it proposes values while they are typed.
    fn completes(&self) -> bool {
        false
    }

    /// What a client must be able to do to be told of it.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether HTTP requests repeat arguments of it in headers.
    #[cfg(feature = "http-server")]
    fn has_headers(&self) -> bool {
        false
    }

    /// A page with these on it.
    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> Self::Page;
}

/// Something that has a shelf in the catalog of a server.
pub(crate) trait Shelved: Listed {
    fn shelf(catalog: &mut Catalog) -> &mut Arc<Shelf<Self>>;
}

/// Who is told the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    revision: Revision,
    able: Needs,
}

/// How a list is cut, and how long it may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paging<'a> {
    pub(crate) page_size: usize,
    pub(crate) hint: &'a CacheHint,
}

/// How long a list may be kept. Where who can do more is told more, it is
/// nobody else's.
pub(crate) fn unshared_if(differs: bool, hint: &CacheHint) -> CacheHint {
    let scope = if differs {
        CacheScope::Private
    } else {
        hint.scope.clone()
    };
    CacheHint {
        ttl: hint.ttl,
        scope,
    }
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
        paging: Paging<'_>,
    ) -> Result<RawJson, ErrorObject> {
        let key = PageKey {
            revision: context.revision(),
            able: Needs::met_by(&context.client.capabilities).shared(self.needs),
        };
        let known = self.pages().get(&key).cloned();
        let hint = &unshared_if(!self.needs.is_empty(), paging.hint);
        let pages = match known {
            Some(pages) => pages,
            None => self.prepare(context, key, Paging { hint, ..paging })?,
        };
        let at = match cursor {
            None => 0,
            Some(cursor) => self.place(cursor).ok_or_else(errors::unknown_cursor)?,
        };
        pages.get(at).cloned().ok_or_else(errors::unknown_cursor)
    }

    /// Whether this client may see nothing of it.
    pub(crate) fn shows_nothing_to(&self, context: &RequestContext) -> bool {
        let able = Needs::met_by(&context.client.capabilities);
        let mut items = self.items().iter();
        items.all(|item| !item.needs().without(able).is_empty())
    }

    fn prepare(
        &self,
        context: &RequestContext,
        key: PageKey,
        paging: Paging<'_>,
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
                let next = if at < last {
                    Some(self.cursor(at + 1))
                } else {
                    self.followed_by.map(str::to_owned)
                };
                // It is cloned for every client that asks.
                let page = encode_result(context, T::page(items, next, paging.hint));
                page.map(RawJson::into_shared)
            })
            .collect();
        let pages = pages.map_err(|error| errors::internal(&error.to_string()))?;
        self.pages().insert(key, Arc::clone(&pages));
        Ok(pages)
    }

    /// Where a page begins, in words that only this list understands: all
    /// nodes that serve the same list, and no list that was changed since.
    fn cursor(&self, page: usize) -> String {
        format!("{:016x}-{page}", self.fingerprint)
    }

    fn place(&self, cursor: &str) -> Option<usize> {
        let (list, page) = cursor.split_once('-')?;
        let same = list == format!("{:016x}", self.fingerprint);
        same.then(|| page.parse().ok())?
    }
}
