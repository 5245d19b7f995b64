//! An ordered map with string keys, like JSON objects on the wire.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{Adapt, WireFeatures};
use crate::jsonrpc::RawJson;

/// Members of an object that this crate does not interpret.
pub type Extra = Members<RawJson>;

/// The members of a JSON object whose keys are data, in their original order.
///
/// Meant for few members: a lookup compares key by key. Decoding keeps both
/// entries of a duplicate key, and [`get`](Self::get) finds the last; this
/// keeps decoding linear, whatever a peer sends.
///
/// ```
/// use bowline_proto::model::Members;
///
/// let arguments: Members<String> = [("city", "Porto"), ("unit", "km")]
///     .into_iter()
///     .map(|(key, value)| (key, value.to_owned()))
///     .collect();
/// assert_eq!(arguments.get("city").map(String::as_str), Some("Porto"));
/// assert_eq!(serde_json::to_string(&arguments).unwrap(), r#"{"city":"Porto","unit":"km"}"#);
/// ```
#[derive(Clone, PartialEq)]
pub struct Members<T> {
    entries: Vec<(Cow<'static, str>, T)>,
}

impl<T> Members<T> {
    /// Creates an empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.entries
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns the value of a member for modification.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.entries
            .iter_mut()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns whether the member is present.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a member, at its old position if it exists; returns the old value.
    pub fn insert(&mut self, key: impl Into<Cow<'static, str>>, value: T) -> Option<T> {
        let key = key.into();
        match self.get_mut(&key) {
            Some(slot) => Some(std::mem::replace(slot, value)),
            None => {
                self.entries.push((key, value));
                None
            }
        }
    }

    /// Removes a member with all of its entries.
    pub fn remove(&mut self, key: &str) -> Option<T> {
        if !self.contains_key(key) {
            return None;
        }
        let mut removed = None;
        let entries = std::mem::take(&mut self.entries);
        self.entries.reserve_exact(entries.len());
        for (name, value) in entries {
            if name == key {
                removed = Some(value);
            } else {
                self.entries.push((name, value));
            }
        }
        removed
    }

    /// Returns all members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_ref(), value))
    }

    /// Returns all members, in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        self.entries.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Appends without searching for the key.
    pub(crate) fn push(&mut self, key: Cow<'static, str>, value: T) {
        self.entries.push((key, value));
    }

    /// Writes the members into a map that has others.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>
    where
        T: Serialize,
    {
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        Ok(())
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<Cow<'static, str>>, T> FromIterator<(K, T)> for Members<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(members: I) -> Self {
        Self {
            entries: members
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        }
    }
}

impl<T> IntoIterator for Members<T> {
    type Item = (Cow<'static, str>, T);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Members<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T: Adapt> Adapt for Members<T> {
    fn adapt(&mut self, features: &WireFeatures) {
        for (_, value) in self.iter_mut() {
            value.adapt(features);
        }
    }
}

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.write(&mut map)?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
        let mut members = Members::new();
        while let Some((key, value)) = map.next_entry::<String, T>()? {
            members.push(Cow::Owned(key), value);
        }
        Ok(members)
    }
}
