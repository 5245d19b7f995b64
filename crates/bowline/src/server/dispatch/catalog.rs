//! What a server offers, in order and by name.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
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
};

/// All that a server offers at one moment.
#[derive(Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Arc<Section<Tool>>,
    pub(crate) resources: Arc<Section<Resource>>,
    pub(crate) templates: Arc<Section<ResourceTemplate>>,
    pub(crate) prompts: Arc<Section<Prompt>>,
}

impl Catalog {
    /// The scopes that reading what is at a URI takes: those of the resource
    /// there, or of the first template that fits.
    pub(crate) fn resource_scopes(&self, uri: &str) -> &[Box<str>] {
        if let Some(resource) = self.resources.get(uri) {
            return &resource.shared.scopes;
        }
        let mut templates = self.templates.items().iter();
        let matching = templates.find(|it| it.shared.pattern.parse_uri(uri).is_some());
        matching.map_or(&[], |template| &template.shared.scopes)
    }
}

/// Things of one kind, each with a name of its own.
pub(crate) struct Section<T> {
    items: Vec<T>,
    by_name: NameIndex,
    /// All that any of them needs of a client.
    pub(crate) needs: CapabilitySet,
    /// Whether any of them has arguments that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    pub(crate) has_headers: bool,
    /// Names, in short, what is on it.
    pub(crate) fingerprint: u64,
    /// Where the list goes on that is not on this shelf.
    pub(crate) next_cursor: Option<&'static str>,
    /// Lists that were asked for before, ready to be sent.
    pub(crate) pages: Mutex<HashMap<PageKey, Arc<[RawJson]>>>,
}

impl<T: ListItem> Section<T> {
    /// Puts things on a shelf, in this order.
    ///
    /// # Errors
    ///
    /// Where something is wrong with one of them, or two have the same name.
    pub(crate) fn new(items: Vec<T>) -> Result<Self, BuildError> {
        let mut by_name =
            NameIndex::with_capacity_and_hasher(items.len(), BuildHasherDefault::new());
        for (index, item) in items.iter().enumerate() {
            let name = item.name();
            if let Some(why) = item.problem() {
                return Err(BuildError::new(T::KIND, name, why));
            }
            if by_name.insert(name.into(), index).is_some() {
                let why = "its name is already in use";
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

    /// With a cursor that leads on from the last page.
    pub(crate) fn with_next_cursor(mut self, cursor: Option<&'static str>) -> Self {
        self.next_cursor = cursor;
        self
    }

    /// The same with one more at the end.
    ///
    /// # Errors
    ///
    /// As with [`new`](Self::new).
    pub(crate) fn with_item(&self, item: T) -> Result<Self, BuildError> {
        let mut items = self.items.clone();
        items.push(item);
        Ok(Self::new(items)?.with_next_cursor(self.next_cursor))
    }

    /// The same without one; nothing where it is not there.
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
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
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

/// With nothing on it.
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
