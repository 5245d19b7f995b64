//! A serializer for values that must be strings: keys, and raw JSON.

use serde::{
    Serialize, Serializer,
    ser::{Error as _, Impossible},
};
use serde_json::Error;

use super::escape;

type Result<T = ()> = std::result::Result<T, Error>;

/// A serializer for one string.
pub(super) struct StringSerializer<'a> {
    out: &'a mut Vec<u8>,
    is_raw: bool,
}

impl<'a> StringSerializer<'a> {
    /// Creates a serializer for the key of a member.
    pub(super) fn key(out: &'a mut Vec<u8>) -> Self {
        let is_raw = false;
        Self { out, is_raw }
    }

    /// Creates a serializer for a string that is already JSON.
    pub(super) fn raw(out: &'a mut Vec<u8>) -> Self {
        let is_raw = true;
        Self { out, is_raw }
    }

    fn quoted<T: Serialize>(self, value: T) -> Result {
        self.out.push(b'"');
        serde_json::to_writer(&mut *self.out, &value)?;
        self.out.push(b'"');
        Ok(())
    }
}

macro_rules! quoted {
    ($($name:ident: $ty:ty),*) => {
        $( fn $name(self, value: $ty) -> Result {
            self.quoted(value)
        } )*
    };
}

macro_rules! refused {
    ($($name:ident($($arg:ty),*) -> $out:ty;)*) => {
        $( fn $name(self, $(_: $arg),*) -> Result<$out> {
            Err(not_a_string())
        } )*
    };
}

type Never = Impossible<(), Error>;

impl Serializer for StringSerializer<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn serialize_str(self, value: &str) -> Result {
        if self.is_raw {
            self.out.extend_from_slice(value.as_bytes());
        } else {
            escape::string(self.out, value);
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    quoted!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    );

    fn serialize_f32(self, value: f32) -> Result {
        check_finite(value.is_finite())?;
        self.quoted(value)
    }

    fn serialize_f64(self, value: f64) -> Result {
        check_finite(value.is_finite())?;
        self.quoted(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result {
        Err(not_a_string())
    }

    refused! {
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_map(Option<usize>) -> Never;
        serialize_struct(&'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }
}

fn not_a_string() -> Error {
    Error::custom("key must be a string")
}

fn check_finite(is_finite: bool) -> Result {
    if is_finite {
        return Ok(());
    }
    Err(Error::custom(
        "float key must be finite (got NaN or +/-inf)",
    ))
}
