//! What a server offers, in order and by name.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    list::{Listed, PageKey},
    tool::Tool,
};
use crate::proto::jsonrpc::RawJson;

/// All that a server offers at one moment.
pub(crate) struct Catalog<S> {
    pub(crate) tools: Shelf<Tool<S>>,
}

/// Things of one kind, each with a name of its own.
pub(crate) struct Shelf<T> {
    items: Vec<T>,
    by_name: HashMap<Box<str>, usize>,
    /// Lists that were asked for before, ready to be sent.
    pub(super) pages: Mutex<HashMap<PageKey, Arc<[RawJson]>>>,
}

/// Two things of one kind have the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Duplicate(pub(crate) String);

impl<T: Listed> Shelf<T> {
    /// Puts things on a shelf, in this order.
    ///
    /// # Errors
    ///
    /// Where two have the same name.
    pub(crate) fn new(items: Vec<T>) -> Result<Self, Duplicate> {
        let mut by_name = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if by_name.insert(item.name().into(), at).is_some() {
                return Err(Duplicate(item.name().to_owned()));
            }
        }
        Ok(Self {
            items,
            by_name,
            pages: Mutex::default(),
        })
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

impl<S> Clone for Catalog<S> {
    fn clone(&self) -> Self {
        Self {
            tools: self.tools.clone(),
        }
    }
}

/// A copy has no lists ready: it is made to be changed.
impl<T: Clone> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            by_name: self.by_name.clone(),
            pages: Mutex::default(),
        }
    }
}
