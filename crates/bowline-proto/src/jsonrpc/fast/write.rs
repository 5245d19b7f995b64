//! A JSON serializer for serde.
//!
//! Its output is byte for byte the output of `serde_json`, which writes
//! everything that is neither string nor structure. It differs in how
//! [strings are escaped](super::escape), which is most of the work of long
//! messages.

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::Error;

use super::{escape, string_serializer::StringSerializer};
use crate::jsonrpc::raw;

type Result<T = ()> = std::result::Result<T, Error>;

/// Appends a value as JSON.
///
/// # Errors
///
/// Returns an error if the value cannot be serialised, or has a map key that is
/// not a string. Part of it may have been written by then.
pub(in crate::jsonrpc) fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result {
    value.serialize(JsonSerializer { out })
}

/// A serializer for one value.
struct JsonSerializer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> JsonSerializer<'a> {
    fn begin_compound(self, begin: &[u8], end: &'static [u8]) -> Compound<'a> {
        self.out.extend_from_slice(begin);
        Compound {
            out: self.out,
            first: true,
            end,
        }
    }

    /// Writes the start of an object whose only member is a variant.
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

impl<'a> Serializer for JsonSerializer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = StructSerializer<'a>;
    type SerializeStructVariant = Compound<'a>;

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

    fn serialize_str(self, value: &str) -> Result {
        escape::string(self.out, value);
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

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>> {
        Ok(self.begin_compound(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>> {
        Ok(self.begin_compound(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>> {
        Ok(self.begin_compound(b"[", b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>> {
        Ok(self.variant(variant).begin_compound(b"[", b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>> {
        Ok(self.begin_compound(b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<StructSerializer<'a>> {
        Ok(if raw::is_raw_token(name) {
            StructSerializer::Raw(self.out)
        } else {
            StructSerializer::Named(self.begin_compound(b"{", b"}"))
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>> {
        Ok(self.variant(variant).begin_compound(b"{", b"}}"))
    }
}

/// An array or object that is being written.
struct Compound<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    end: &'static [u8],
}

impl Compound<'_> {
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
        $( impl $of for Compound<'_> {
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

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.comma();
        key.serialize(StringSerializer::key(self.out))
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

impl SerializeStructVariant for Compound<'_> {
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

/// The fields of a struct, or raw JSON in the form of a struct.
enum StructSerializer<'a> {
    Named(Compound<'a>),
    Raw(&'a mut Vec<u8>),
}

impl SerializeStruct for StructSerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        match self {
            Self::Named(compound) => compound.member(key, value),
            Self::Raw(out) => value.serialize(StringSerializer::raw(out)),
        }
    }

    fn end(self) -> Result {
        if let Self::Named(compound) = self {
            compound.close();
        }
        Ok(())
    }
}
