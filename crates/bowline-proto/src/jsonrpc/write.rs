//! JSON out of any value that serde can walk.
//!
//! It writes what `serde_json` writes, byte for byte, and has that write what
//! is neither text nor structure. It differs in how [strings are
//! escaped](super::escape), which is most of the work of long messages.

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::Error;

use super::{escape, raw, text::Text};

type Result<T = ()> = std::result::Result<T, Error>;

/// Appends a value as JSON.
///
/// # Errors
///
/// Where the value itself refuses to be serialised, or has a map key that is
/// not a string. Part of it may have been written then.
pub(super) fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result {
    value.serialize(Json { out })
}

/// A place for one value.
struct Json<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Json<'a> {
    fn open(self, begin: &[u8], end: &'static [u8]) -> Open<'a> {
        self.out.extend_from_slice(begin);
        Open {
            out: self.out,
            first: true,
            end,
        }
    }

    /// Writes the beginning of an object whose only member is a variant.
    fn variant(self, variant: &str) -> Self {
        self.out.push(b'{');
        escape::string(self.out, variant);
        self.out.push(b':');
        self
    }
}

macro_rules! as_serde_json_does {
    ($($name:ident: $ty:ty),*) => {
        $( fn $name(self, value: $ty) -> Result {
            serde_json::to_writer(self.out, &value)
        } )*
    };
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Open<'a>;
    type SerializeTuple = Open<'a>;
    type SerializeTupleStruct = Open<'a>;
    type SerializeTupleVariant = Open<'a>;
    type SerializeMap = Open<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Open<'a>;

    as_serde_json_does!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64,
        serialize_char: char
    );

    fn serialize_bool(self, value: bool) -> Result {
        let name: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(name);
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result {
        escape::string(self.out, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result {
        serde_json::to_writer(self.out, bytes)
    }

    fn serialize_none(self) -> Result {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        let Self { out } = self.variant(variant);
        append(out, value)?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>> {
        Ok(self.variant(variant).open(b"[", b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'a>> {
        Ok(self.open(b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>> {
        Ok(if raw::is_verbatim(name) {
            Fields::Verbatim(self.out)
        } else {
            Fields::Named(self.open(b"{", b"}"))
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>> {
        Ok(self.variant(variant).open(b"{", b"}}"))
    }
}

/// An array or object that is being written.
struct Open<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    end: &'static [u8],
}

impl Open<'_> {
    fn comma(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.comma();
        append(self.out, value)
    }

    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result {
        self.comma();
        escape::string(self.out, key);
        self.out.push(b':');
        append(self.out, value)
    }

    fn close(self) {
        self.out.extend_from_slice(self.end);
    }
}

macro_rules! sequence {
    ($($of:ident $step:ident),*) => {
        $( impl $of for Open<'_> {
            type Ok = ();
            type Error = Error;

            fn $step<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.item(value)
            }

            fn end(self) -> Result {
                self.close();
                Ok(())
            }
        } )*
    };
}
sequence!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

impl SerializeMap for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.comma();
        key.serialize(Text::key(self.out))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.out.push(b':');
        append(self.out, value)
    }

    fn end(self) -> Result {
        self.close();
        Ok(())
    }
}

impl SerializeStructVariant for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        self.member(key, value)
    }

    fn end(self) -> Result {
        self.close();
        Ok(())
    }
}

/// The fields of a struct; or one that is JSON already, and no struct at all.
enum Fields<'a> {
    Named(Open<'a>),
    Verbatim(&'a mut Vec<u8>),
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        match self {
            Self::Named(open) => open.member(key, value),
            Self::Verbatim(out) => value.serialize(Text::verbatim(out)),
        }
    }

    fn end(self) -> Result {
        if let Self::Named(open) = self {
            open.close();
        }
        Ok(())
    }
}
