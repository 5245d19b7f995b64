//! Lists, page by page, made once for all who are told the same.

use std::sync::Arc;

use super::catalog::{Catalog, Section};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{CacheScope, ResultObject},
        revision::Revision,
        server::{CacheHint, ListKind, RequestContext, encode_result, errors},
    },
    server::capability::CapabilitySet,
};

/// Something that stands in a list.
pub(crate) trait ListItem: Clone {
    /// The page of a list.
    type Page: ResultObject;

    /// What it is, for people.
    const KIND: &'static str;
    /// What clients are told when the list changes.
    const LIST_KIND: ListKind;
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
    fn needs(&self) -> CapabilitySet {
        CapabilitySet::default()
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
pub(crate) trait CatalogItem: ListItem {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>>;
}

/// Who is told the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    revision: Revision,
    capabilities: CapabilitySet,
}

/// How a list is cut, and how long it may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paging<'a> {
    pub(crate) page_size: usize,
    pub(crate) hint: &'a CacheHint,
}

/// How long a list may be kept. Where who can do more is told more, it is
/// nobody else's.
pub(crate) fn with_private_scope_if(is_private: bool, hint: &CacheHint) -> CacheHint {
    let scope = if is_private {
        CacheScope::Private
    } else {
        hint.scope.clone()
    };
    CacheHint {
        ttl: hint.ttl,
        scope,
    }
}

impl<T: ListItem> Section<T> {
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
            capabilities: CapabilitySet::declared_by(&context.client.capabilities)
                .intersection(self.needs),
        };
        let cached = self.pages().get(&key).cloned();
        let hint = &with_private_scope_if(!self.needs.is_empty(), paging.hint);
        let pages = match cached {
            Some(pages) => pages,
            None => self.build_pages(context, key, Paging { hint, ..paging })?,
        };
        let index = match cursor {
            None => 0,
            Some(cursor) => self
                .parse_cursor(cursor)
                .ok_or_else(errors::unknown_cursor)?,
        };
        pages.get(index).cloned().ok_or_else(errors::unknown_cursor)
    }

    /// Whether this client may see nothing of it.
    pub(crate) fn is_empty_for(&self, context: &RequestContext) -> bool {
        let declared = CapabilitySet::declared_by(&context.client.capabilities);
        let mut items = self.items().iter();
        items.all(|item| !item.needs().difference(declared).is_empty())
    }

    fn build_pages(
        &self,
        context: &RequestContext,
        key: PageKey,
        paging: Paging<'_>,
    ) -> Result<Arc<[RawJson]>, ErrorObject> {
        let visible: Vec<&T> = self
            .items()
            .iter()
            .filter(|item| item.needs().difference(key.capabilities).is_empty())
            .collect();
        let chunks: Vec<&[&T]> = visible.chunks(paging.page_size.max(1)).collect();
        let chunks = if chunks.is_empty() {
            vec![&[][..]]
        } else {
            chunks
        };
        let last = chunks.len() - 1;
        let pages: Result<Arc<[RawJson]>, _> = chunks
            .into_iter()
            .enumerate()
            .map(|(index, items)| {
                let next = if index < last {
                    Some(self.cursor(index + 1))
                } else {
                    self.next_cursor.map(str::to_owned)
                };
                // It is cloned for every client that asks.
                let page = encode_result(context, T::page(items, next, paging.hint));
                page.map(RawJson::into_shared)
            })
            .collect();
        let pages = pages.map_err(|error| errors::internal_error(&error.to_string()))?;
        self.pages().insert(key, Arc::clone(&pages));
        Ok(pages)
    }

    /// Where a page begins, in words that only this list understands: all
    /// nodes that serve the same list, and no list that was changed since.
    fn cursor(&self, page: usize) -> String {
        format!("{:016x}-{page}", self.fingerprint)
    }

    fn parse_cursor(&self, cursor: &str) -> Option<usize> {
        let (list, page) = cursor.split_once('-')?;
        let same = list == format!("{:016x}", self.fingerprint);
        same.then(|| page.parse().ok())?
    }
}
