//! Paginated lists, encoded once for all clients that see the same.

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

/// An item of a list.
pub(crate) trait ListItem: Clone {
    /// A page of the list.
    type Page: ResultObject;

    /// The name of the kind, for messages.
    const KIND: &'static str;
    /// The notification sent when the list changes.
    const LIST_KIND: ListKind;
    /// The capability of a server with such a list, as a path.
    const CAPABILITY: &'static str;
    /// The method that requests the list.
    const METHOD: &'static str;

    /// Returns the name that identifies the item.
    fn name(&self) -> &str;

    /// Returns why the item cannot be served.
    fn problem(&self) -> Option<&str>;

    /// Returns whether the item has completions.
    fn completes(&self) -> bool {
        false
    }

    /// Returns the capabilities that a client needs to see the item.
    fn needs(&self) -> CapabilitySet {
        CapabilitySet::default()
    }

    /// Returns whether HTTP requests repeat arguments of the item in headers.
    #[cfg(feature = "http-server")]
    fn has_headers(&self) -> bool {
        false
    }

    /// Creates a page with these items.
    fn page(items: &[&Self], next: Option<String>, hint: &CacheHint) -> Self::Page;
}

/// An item that has a section in the catalog of a server.
pub(crate) trait CatalogItem: ListItem {
    fn section(catalog: &mut Catalog) -> &mut Arc<Section<Self>>;
}

/// The key of a cached page: clients with the same key see the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    revision: Revision,
    capabilities: CapabilitySet,
}

/// The page size and the cache hint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paging<'a> {
    pub(crate) page_size: usize,
    pub(crate) hint: &'a CacheHint,
}

/// Returns the cache hint of a list. If clients with more capabilities see
/// more, it is private.
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
    /// Returns one page of the list, as this client may see it.
    ///
    /// # Errors
    ///
    /// Returns an error if the cursor is not one of this list.
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

    /// Returns whether this client may see none of the items.
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

    /// Returns the cursor of a page. It is valid on all nodes that serve the
    /// same list, and for no list that has changed since.
    fn cursor(&self, page: usize) -> String {
        format!("{:016x}-{page}", self.fingerprint)
    }

    fn parse_cursor(&self, cursor: &str) -> Option<usize> {
        let (list, page) = cursor.split_once('-')?;
        let same = list == format!("{:016x}", self.fingerprint);
        same.then(|| page.parse().ok())?
    }
}
