//! Lists in which invalid items do not affect the valid ones.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
    },
};

use super::{
    DecodeError, Extra, decode,
    object::{Object, read_entries},
};
use crate::jsonrpc::RawJson;

/// An invalid item of a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RejectedItem {
    /// Its index in the list.
    pub index: usize,
    /// What is wrong with it.
    pub error: DecodeError,
    /// The item itself.
    pub raw: RawJson,
}

/// The maximum number of invalid items in one list. They are kept with their
/// errors, which takes a hundred times the memory of the smallest item.
const MAX_REJECTED: usize = 1024;

/// The maximum number of items in one page of a list. An item takes up to a
/// hundred times as much memory as the smallest one takes on the wire.
const MAX_ITEMS: usize = 100_000;

/// A result that is a list of items.
pub(crate) trait ListObject: Object {
    /// The type of the items.
    type Item: DeserializeOwned;
    /// The key of the list.
    const ITEMS: &'static str;

    /// Sets the list.
    fn set_items(&mut self, items: Vec<Self::Item>, rejected: Vec<RejectedItem>);
}

/// Decodes a list; item by item if some are invalid. A list with too many items
/// is refused before any of them takes memory.
pub(crate) fn decode_list<L: ListObject + DeserializeOwned>(json: &[u8]) -> Result<L, DecodeError> {
    check_count(json, L::ITEMS)?;
    decode(json).or_else(|error| decode_items(json).map_err(|_| error))
}

/// Decodes a list item by item, with the same limit.
pub(crate) fn decode_lenient<L: ListObject>(json: &[u8]) -> Result<L, DecodeError> {
    check_count(json, L::ITEMS)?;
    decode_items(json)
}

/// This parses the text three times, so it is only used after a plain decode
/// has failed: a map can be read only once, so no single `Deserialize` could do
/// both.
fn decode_items<L: ListObject>(json: &[u8]) -> Result<L, DecodeError> {
    let mut members: Extra = decode(json)?;
    let raw_items: Vec<RawJson> = match members.remove(L::ITEMS) {
        Some(list) => {
            decode(list.get().as_bytes()).map_err(|error| prefix_path(L::ITEMS, error))?
        }
        None => {
            let message = format!("missing field `{}`", L::ITEMS);
            return Err(DecodeError::new("", message));
        }
    };
    let mut items = Vec::new();
    let mut rejected = Vec::new();
    for (index, raw) in raw_items.into_iter().enumerate() {
        match decode(raw.get().as_bytes()) {
            Ok(item) => items.push(item),
            Err(_) if rejected.len() >= MAX_REJECTED => {
                let message = format!("more than {MAX_REJECTED} items are invalid");
                return Err(DecodeError::new(L::ITEMS, message));
            }
            Err(error) => rejected.push(RejectedItem { index, error, raw }),
        }
    }
    let mut result: L = build(members).map_err(|error| DecodeError::new("", error.to_string()))?;
    result.set_items(items, rejected);
    Ok(result)
}

/// Builds the result with an empty list.
fn build<L: ListObject>(members: Extra) -> Result<L, serde_json::Error> {
    let empty = RawJson::encode::<[u8]>(&[])?;
    let mut builder = L::Builder::default();
    read_entries::<L, serde_json::Error>(&mut builder, members)?;
    read_entries::<L, serde_json::Error>(&mut builder, [(Cow::Borrowed(L::ITEMS), empty)])?;
    L::finish(builder)
}

/// Refuses a page with too many items in the list under `key`. Invalid JSON is
/// left to the decoder.
pub(crate) fn check_count(json: &[u8], key: &'static str) -> Result<(), DecodeError> {
    // There is a comma between any two items, so almost no list has to be
    // parsed for this.
    if json.len() / 2 <= MAX_ITEMS || memchr::memchr_iter(b',', json).count() < MAX_ITEMS {
        return Ok(());
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    let mut count = ItemCounter { key, items: 0 };
    let _ = reader.deserialize_map(&mut count);
    if count.items <= MAX_ITEMS {
        return Ok(());
    }
    let message =
        format!("more than {MAX_ITEMS} items in one page; the server should send smaller pages");
    Err(DecodeError::new(key, message))
}

/// Counts the items of a list, until there are too many.
struct ItemCounter<'a> {
    key: &'a str,
    items: usize,
}

impl<'de> Visitor<'de> for &mut ItemCounter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page of a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<Cow<'de, str>>()? {
            match key == self.key {
                true => members.next_value_seed(&mut *self)?,
                false => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {
            self.items += 1;
            if self.items > MAX_ITEMS {
                return Err(A::Error::custom("too many items"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut ItemCounter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}

fn prefix_path(key: &str, error: DecodeError) -> DecodeError {
    DecodeError {
        path: format!("{key}{}", error.path),
        ..error
    }
}

macro_rules! lenient_list {
    ($result:ident { $items:ident: $item:ty = $key:literal }) => {
        impl $crate::model::list::ListObject for $result {
            type Item = $item;
            const ITEMS: &'static str = $key;

            fn set_items(&mut self, items: Vec<$item>, rejected: Vec<$crate::model::RejectedItem>) {
                self.$items = items;
                self.rejected = rejected;
            }
        }

        impl $result {
            /// Decodes item by item, and collects invalid items in `rejected`.
            ///
            /// [`ResultObject::decode`](crate::model::ResultObject::decode)
            /// does this when a plain decode has failed.
            ///
            /// # Errors
            ///
            /// Returns an error if the list is missing, or another member is
            /// invalid.
            pub fn decode_lenient(json: &[u8]) -> Result<Self, $crate::model::DecodeError> {
                $crate::model::list::decode_lenient(json)
            }
        }
    };
}
pub(crate) use lenient_list;
