//! Member names.

use std::borrow::Cow;

use serde::{
    Deserializer,
    de::{IntoDeserializer as _, Visitor, value::CowStrDeserializer},
    forward_to_deserialize_any,
};

use super::{NotFast, Result};

/// A member name. Names that are to become numbers are not supported.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = NotFast;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match name.starts_with('$') {
            true => Err(NotFast),
            false => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let variant: CowStrDeserializer<'_, NotFast> = self.0.into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
