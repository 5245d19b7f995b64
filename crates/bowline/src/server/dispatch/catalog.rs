//! The catalog of a server: its items, in order and by name.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex},
};

use super::{
    list::{ListItem, PageKey},
    name_index::NameIndex,
};
use crate::{
    proto::jsonrpc::RawJson,
    server::{
        builder::BuildError, capability::CapabilitySet, prompt::Prompt, resource::Resource,
        template::ResourceTemplate, tool::Tool,
    },
    sync,
};

/// Everything a server offers at one moment.
#[derive(Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Arc<Section<Tool>>,
    pub(crate) resources: Arc<Section<Resource>>,
    pub(crate) templates: Arc<Section<ResourceTemplate>>,
    pub(crate) prompts: Arc<Section<Prompt>>,
}

impl Catalog {
    /// Returns the scopes needed to read a URI: those of the resource there, or
    /// of the first template that matches.
    pub(crate) fn resource_scopes(&self, uri: &str) -> &[Box<str>] {
        if let Some(resource) = self.resources.get(uri) {
            return &resource.shared.scopes;
        }
        let mut templates = self.templates.items().iter();
        let matching = templates.find(|it| it.shared.pattern.parse_uri(uri).is_some());
        matching.map_or(&[], |template| &template.shared.scopes)
    }
}

/// The items of one kind, each with a unique name.
pub(crate) struct Section<T> {
    items: Vec<T>,
    by_name: NameIndex,
    /// The union of the capabilities that the items require.
    pub(crate) needs: CapabilitySet,
    /// Whether any item has arguments that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    pub(crate) has_headers: bool,
    /// A hash of the items.
    pub(crate) fingerprint: u64,
    /// The cursor at which the list continues outside of this section.
    pub(crate) next_cursor: Option<&'static str>,
    /// Pages requested before, ready to be sent.
    pub(crate) pages: Mutex<HashMap<PageKey, Arc<[RawJson]>>>,
}

impl<T: ListItem> Section<T> {
    /// Creates a section with these items, in this order.
    ///
    /// # Errors
    ///
    /// Returns an error if an item is invalid, or two have the same name.
    pub(crate) fn new(items: Vec<T>) -> Result<Self, BuildError> {
        let mut by_name =
            NameIndex::with_capacity_and_hasher(items.len(), BuildHasherDefault::new());
        for (index, item) in items.iter().enumerate() {
            let name = item.name();
            if let Some(why) = item.problem() {
                return Err(BuildError::new(T::KIND, name, why));
            }
            if by_name.insert(name.into(), index).is_some() {
                let why = "it is already registered";
                return Err(BuildError::new(T::KIND, name, why));
            }
        }
        Ok(Self {
            needs: items.iter().fold(CapabilitySet::default(), |all, item| {
                all.union(item.needs())
            }),
            #[cfg(feature = "http-server")]
            has_headers: items.iter().any(T::has_headers),
            fingerprint: fingerprint(&items),
            items,
            by_name,
            next_cursor: None,
            pages: Mutex::default(),
        })
    }

    /// Sets the cursor that follows the last page.
    pub(crate) fn with_next_cursor(mut self, cursor: Option<&'static str>) -> Self {
        self.next_cursor = cursor;
        self
    }

    /// Returns the section with one more item at the end.
    ///
    /// # Errors
    ///
    /// See [`new`](Self::new).
    pub(crate) fn with_item(&self, item: T) -> Result<Self, BuildError> {
        let mut items = self.items.clone();
        items.push(item);
        Ok(Self::new(items)?.with_next_cursor(self.next_cursor))
    }

    /// Returns the section without an item, or `None` if it is not there.
    pub(crate) fn without_item(&self, name: &str) -> Option<Self> {
        self.get(name)?;
        let mut items = self.items.clone();
        items.retain(|item| item.name() != name);
        Some(Self::new(items).ok()?.with_next_cursor(self.next_cursor))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.items.get(*self.by_name.get(name)?)
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn pages(&self) -> std::sync::MutexGuard<'_, HashMap<PageKey, Arc<[RawJson]>>> {
        // Nothing that holds the lock can panic halfway.
        sync::lock(&self.pages)
    }
}

fn fingerprint<T: ListItem>(items: &[T]) -> u64 {
    // The keys of this hasher are fixed.
    let mut hasher = DefaultHasher::new();
    T::KIND.hash(&mut hasher);
    for item in items {
        item.name().hash(&mut hasher);
    }
    hasher.finish()
}

/// An empty section.
impl<T> Default for Section<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            by_name: NameIndex::default(),
            needs: CapabilitySet::default(),
            #[cfg(feature = "http-server")]
            has_headers: false,
            fingerprint: 0,
            next_cursor: None,
            pages: Mutex::default(),
        }
    }
}
