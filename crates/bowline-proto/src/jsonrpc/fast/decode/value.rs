//! Decoding of values as their types request them.

use std::borrow::Cow;

use serde::{
    Deserializer,
    de::{DeserializeOwned, IntoDeserializer as _, Visitor, value::CowStrDeserializer},
};
use serde_json::value::RawValue;

use super::{
    NotFast, Reader, Result,
    access::{Elements, RawAccess},
};
use crate::jsonrpc::{fast::unescape, raw};

impl<'de> Reader<'de> {
    /// Decodes a string, borrowed if it has no escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>> {
        self.expect(b'"')?;
        let (text, end) = unescape::string(self.json, self.at).ok_or(NotFast)?;
        self.at = end;
        Ok(text)
    }

    #[inline]
    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn boolean<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let is_true = self.token()? == b't';
        self.literal(if is_true { "true" } else { "false" })?;
        visitor.visit_bool(is_true)
    }

    fn null<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.literal("null")?;
        visitor.visit_unit()
    }

    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.enter(b'[')?;
        let value = visitor.visit_seq(Elements::new(self))?;
        self.leave(b']')?;
        Ok(value)
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.enter(b'{')?;
        let value = visitor.visit_map(Elements::new(self))?;
        self.leave(b'}')?;
        Ok(value)
    }

    /// Returns the raw text of a value.
    fn raw_value(&mut self) -> Result<&'de str> {
        self.token()?;
        let rest = &self.json[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let value = values.next().ok_or(NotFast)?.map_err(|_| NotFast)?;
        self.at += values.byte_offset();
        Ok(value.get())
    }
}

/// Parses a number with `serde_json`.
fn parse<T: DeserializeOwned>(number: &str) -> Result<T> {
    serde_json::from_str(number).map_err(|_| NotFast)
}

/// Deserializer methods that accept the kind they are named after, whatever the
/// exact type.
macro_rules! reads {
    ($($method:ident: $how:ident,)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$how(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = NotFast;

    reads! {
        deserialize_bool: boolean,
        deserialize_i8: integer,
        deserialize_i16: integer,
        deserialize_i32: integer,
        deserialize_i64: integer,
        deserialize_u8: integer,
        deserialize_u16: integer,
        deserialize_u32: integer,
        deserialize_u64: integer,
        deserialize_char: text,
        deserialize_str: text,
        deserialize_string: text,
        deserialize_identifier: text,
        deserialize_unit: null,
        deserialize_seq: array,
        deserialize_map: object,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.token()? {
            b'"' => self.text(visitor),
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' | b'f' => self.boolean(visitor),
            b'n' => self.null(visitor),
            // Whether a fraction keeps its digits depends on the features of
            // `serde_json`.
            _ => self.integer(visitor),
        }
    }

    // How numbers are rounded also depends on its features, and must be the
    // same in the whole program.

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.float(visitor, |visitor, source| visitor.visit_f32(parse(source)?))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.float(visitor, |visitor, source| visitor.visit_f64(parse(source)?))
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_i128(parse(self.number()?)?)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_u128(parse(self.number()?)?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(NotFast)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(NotFast)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.token()? == b'n' {
            self.literal("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.null(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name == raw::RAW_VALUE_TOKEN {
            let json = Some(self.raw_value()?);
            return visitor.visit_map(RawAccess { name, json });
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.array(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.array(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.token()? {
            b'[' => self.array(visitor),
            _ => self.object(visitor),
        }
    }

    /// Variants with data are not supported.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let variant: CowStrDeserializer<'_, NotFast> = self.string()?.into_deserializer();
        visitor.visit_enum(variant)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.raw_value()?;
        visitor.visit_unit()
    }
}
