//! Lists whose bad items do not spoil the good ones.

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

/// An item of a list that does not have the shape it should.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RejectedItem {
    /// Where it stood in the list.
    pub index: usize,
    /// What is wrong with it.
    pub error: DecodeError,
    /// The item itself.
    pub raw: RawJson,
}

/// How many bad items one list may have. They are kept with what is wrong with
/// them, which takes a hundred times the room of the least of them.
const MAX_REJECTED: usize = 1024;

/// How many items one page of a list may have. An item takes up to a hundred
/// times the room in memory that the least of them takes on the wire.
const MAX_ITEMS: usize = 100_000;

/// A result that is a list of items.
pub(crate) trait ListObject: Object {
    /// What is listed.
    type Item: DeserializeOwned;
    /// The member that holds the list.
    const ITEMS: &'static str;

    /// Fills in the list.
    fn set_items(&mut self, items: Vec<Self::Item>, rejected: Vec<RejectedItem>);
}

/// Decodes a list; item by item, where some of them are bad. One with too many
/// items is refused before any of them takes room.
pub(crate) fn decode_list<L: ListObject + DeserializeOwned>(json: &[u8]) -> Result<L, DecodeError> {
    check_count(json, L::ITEMS)?;
    decode(json).or_else(|error| decode_items(json).map_err(|_| error))
}

/// Decodes a list item by item, with the same limit.
pub(crate) fn decode_lenient<L: ListObject>(json: &[u8]) -> Result<L, DecodeError> {
    check_count(json, L::ITEMS)?;
    decode_items(json)
}

/// This reads the text three times, so it comes second, after a plain decode
/// has failed: a map that has been read cannot be read again, so no single
/// `Deserialize` could do both.
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
                let message = format!("more than {MAX_REJECTED} items do not have the shape");
                return Err(DecodeError::new(L::ITEMS, message));
            }
            Err(error) => rejected.push(RejectedItem { index, error, raw }),
        }
    }
    let mut result: L = build(members).map_err(|error| DecodeError::new("", error.to_string()))?;
    result.set_items(items, rejected);
    Ok(result)
}

/// Builds the result around an empty list.
fn build<L: ListObject>(members: Extra) -> Result<L, serde_json::Error> {
    let empty = RawJson::encode::<[u8]>(&[])?;
    let mut builder = L::Builder::default();
    read_entries::<L, serde_json::Error>(&mut builder, members)?;
    read_entries::<L, serde_json::Error>(&mut builder, [(Cow::Borrowed(L::ITEMS), empty)])?;
    L::finish(builder)
}

/// Refuses a page with too many items in the list under `key`. What is not JSON
/// is left to whoever decodes it.
pub(crate) fn check_count(json: &[u8], key: &'static str) -> Result<(), DecodeError> {
    // There is a comma between any two, so almost no list need be read for it.
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
            /// Decodes item by item, and sets aside in `rejected` what does
            /// not have the shape it should.
            ///
            /// [`ResultObject::decode`](crate::model::ResultObject::decode)
            /// comes here by itself when a plain decode has failed.
            ///
            /// # Errors
            ///
            /// Where there is no list, or something beside it is wrong.
            pub fn decode_lenient(json: &[u8]) -> Result<Self, $crate::model::DecodeError> {
                $crate::model::list::decode_lenient(json)
            }
        }
    };
}
pub(crate) use lenient_list;
