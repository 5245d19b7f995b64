//! Access to the elements of objects and arrays.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, value::BorrowedStrDeserializer};

use super::{NotFast, Reader, Result, key::Key};

/// The elements of an open object or array.
pub(super) struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    started: bool,
}

impl<'r, 'de> Elements<'r, 'de> {
    pub(super) fn new(reader: &'r mut Reader<'de>) -> Self {
        Self {
            reader,
            started: false,
        }
    }

    /// Returns whether an element is left, and moves to it.
    #[inline]
    fn has_more(&mut self, end: u8) -> Result<bool> {
        if self.reader.token()? == end {
            return Ok(false);
        }
        if self.started {
            self.reader.expect(b',')?;
        }
        self.started = true;
        Ok(true)
    }
}

impl<'de> MapAccess<'de> for Elements<'_, 'de> {
    type Error = NotFast;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.has_more(b'}')? {
            return Ok(None);
        }
        let key = self.reader.string()?;
        seed.deserialize(Key(key)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = NotFast;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.has_more(b']')? {
            true => seed.deserialize(&mut *self.reader).map(Some),
            false => Ok(None),
        }
    }
}

/// A raw value, presented as `serde_json` presents it to its own types: as an
/// object with one member of a reserved name.
pub(super) struct RawAccess<'de> {
    pub(super) name: &'static str,
    /// `None` once it was taken.
    pub(super) json: Option<&'de str>,
}

impl<'de> MapAccess<'de> for RawAccess<'de> {
    type Error = NotFast;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.json {
            Some(_) => seed
                .deserialize(BorrowedStrDeserializer::new(self.name))
                .map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let json = self.json.take().ok_or(NotFast)?;
        seed.deserialize(BorrowedStrDeserializer::new(json))
    }
}
