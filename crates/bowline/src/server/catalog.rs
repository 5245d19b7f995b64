//! What a server offers, in order and by name.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    build::BuildError,
    list::{Listed, PageKey},
    names::Names,
    needs::Needs,
    prompt::Prompt,
    resource::Resource,
    template::ResourceTemplate,
    tool::Tool,
};
use crate::proto::jsonrpc::RawJson;

/// All that a server offers at one moment.
#[derive(Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Arc<Shelf<Tool>>,
    pub(crate) resources: Arc<Shelf<Resource>>,
    pub(crate) templates: Arc<Shelf<ResourceTemplate>>,
    pub(crate) prompts: Arc<Shelf<Prompt>>,
}

impl Catalog {
    /// The scopes that reading what is at a URI takes: those of the resource
    /// there, or of the first template that fits.
    pub(crate) fn resource_scopes(&self, uri: &str) -> &[Box<str>] {
        if let Some(resource) = self.resources.get(uri) {
            return &resource.shared.scopes;
        }
        let mut templates = self.templates.items().iter();
        let fitting = templates.find(|it| it.shared.pattern.read(uri).is_some());
        fitting.map_or(&[], |template| &template.shared.scopes)
    }
}

/// Things of one kind, each with a name of its own.
pub(crate) struct Shelf<T> {
    items: Vec<T>,
    by_name: Names,
    /// All that any of them needs of a client.
    pub(super) needs: Needs,
    /// Whether any of them has arguments that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    pub(super) has_headers: bool,
    /// Names, in short, what is on it.
    pub(super) fingerprint: u64,
    /// Where the list goes on that is not on this shelf.
    pub(super) followed_by: Option<&'static str>,
    /// Lists that were asked for before, ready to be sent.
    pub(super) pages: Mutex<HashMap<PageKey, Arc<[RawJson]>>>,
}

impl<T: Listed> Shelf<T> {
    /// Puts things on a shelf, in this order.
    ///
    /// # Errors
    ///
    /// Where something is wrong with one of them, or two have the same name.
    pub(crate) fn new(items: Vec<T>) -> Result<Self, BuildError> {
        let mut by_name = Names::with_capacity_and_hasher(items.len(), BuildHasherDefault::new());
        for (at, item) in items.iter().enumerate() {
            let name = item.name();
            if let Some(why) = item.problem() {
                return Err(BuildError::new(T::KIND, name, why));
            }
            if by_name.insert(name.into(), at).is_some() {
                let why = "there are two of that name";
                return Err(BuildError::new(T::KIND, name, why));
            }
        }
        Ok(Self {
            needs: items
                .iter()
                .fold(Needs::default(), |all, item| all.union(item.needs())),
            #[cfg(feature = "http-server")]
            has_headers: items.iter().any(T::has_headers),
            fingerprint: fingerprint(&items),
            items,
            by_name,
            followed_by: None,
            pages: Mutex::default(),
        })
    }

    /// With a cursor that leads on from the last page.
    pub(crate) fn followed_by(mut self, cursor: Option<&'static str>) -> Self {
        self.followed_by = cursor;
        self
    }

    /// The same with one more at the end.
    ///
    /// # Errors
    ///
    /// As with [`new`](Self::new).
    pub(crate) fn with(&self, item: T) -> Result<Self, BuildError> {
        let mut items = self.items.clone();
        items.push(item);
        Ok(Self::new(items)?.followed_by(self.followed_by))
    }

    /// The same without one; nothing where it is not there.
    pub(crate) fn without(&self, name: &str) -> Option<Self> {
        self.get(name)?;
        let mut items = self.items.clone();
        items.retain(|item| item.name() != name);
        Some(Self::new(items).ok()?.followed_by(self.followed_by))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.items.get(*self.by_name.get(name)?)
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    pub(super) fn pages(&self) -> std::sync::MutexGuard<'_, HashMap<PageKey, Arc<[RawJson]>>> {
        // Nothing that holds the lock can panic halfway.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint<T: Listed>(items: &[T]) -> u64 {
    // The keys of this hasher are fixed.
    let mut hasher = DefaultHasher::new();
    T::KIND.hash(&mut hasher);
    for item in items {
        item.name().hash(&mut hasher);
    }
    hasher.finish()
}

/// With nothing on it.
impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            by_name: Names::default(),
            needs: Needs::default(),
            #[cfg(feature = "http-server")]
            has_headers: false,
            fingerprint: 0,
            followed_by: None,
            pages: Mutex::default(),
        }
    }
}
