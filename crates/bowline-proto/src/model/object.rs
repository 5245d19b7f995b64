//! The macro that defines message objects: fields, wire keys, wire features.
//!
//! [`object!`] generates the struct and its serde code, so the crate needs no
//! procedural macro and every object behaves the same: one pass, no buffering,
//! unknown members kept. A field reads
//!
//! ```text
//! /// The display name.
//! title: Option<String> = optional "title" if titles,
//! ```
//!
//! that is: name, Rust type, rule, wire key and, if not every revision has the
//! member, the [`WireFeatures`](super::WireFeatures) switch for it. The rules:
//!
//! | rule | member missing | JSON `null` | written |
//! |---|---|---|---|
//! | `required` | error | up to the type | always |
//! | `optional` | `None` | `None` | if `Some` |
//! | `nullable` | `None` | `Some` | if `Some` |
//! | `nulled` | `None` | `None` | always, `null` for `None` |
//! | `defaulted` | default | default | always |
//! | `sparse` | default | default | unless default |
//!
//! Fields after a `;` are never sent. `tagged "type" = "text"` after the name
//! means that the object carries that member with that value; `adjusted by f`
//! names a function that starts its adaptation to a wire format, before members
//! that the wire format lacks are removed.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess, Unexpected, Visitor},
    ser::SerializeMap,
};

use super::Extra;
use crate::jsonrpc::{RawJson, message_without_position};

/// The trait that [`object!`] implements: enough to build the object entry by
/// entry, so a tagged union can pass on a partly read map.
pub(crate) trait Object: Sized {
    /// The name for error messages.
    const NAME: &'static str;
    /// The member that distinguishes this object from its siblings, and its
    /// value.
    const TAG: Option<(&'static str, &'static str)>;
    /// The object while it is being read.
    type Builder: Default;

    /// Returns the index of the declared member with this wire key.
    fn slot(key: &str) -> Option<u8>;

    /// Reads the value of a known member, whose key has just been read.
    fn take<'de, A: MapAccess<'de>>(
        builder: &mut Self::Builder,
        slot: u8,
        map: &mut A,
    ) -> Result<(), A::Error>;

    /// Returns the unknown members.
    fn extra(builder: &mut Self::Builder) -> &mut Extra;

    /// Finishes the object; fails if a required member is missing.
    fn finish<E: de::Error>(builder: Self::Builder) -> Result<Self, E>;

    /// Writes all members except the tag.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Entries that were read before the type was known.
pub(crate) type Entries = Vec<(Cow<'static, str>, RawJson)>;

/// Decodes an object in one pass.
pub(crate) fn decode<'de, O: Object, D: Deserializer<'de>>(deserializer: D) -> Result<O, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// Encodes an object: the tag, known members as declared, unknown ones
/// verbatim.
pub(crate) fn encode<O: Object, S: serde::Serializer>(
    object: &O,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some((tag, kind)) = O::TAG {
        map.serialize_entry(tag, kind)?;
    }
    object.write(&mut map)?;
    map.end()
}

/// Reads the remaining entries of `map`, after those read earlier.
pub(crate) fn resume<'de, O: Object, A: MapAccess<'de>>(
    buffered: Entries,
    map: &mut A,
) -> Result<O, A::Error> {
    let mut builder = O::Builder::default();
    read_entries::<O, A::Error>(&mut builder, buffered)?;
    read_map::<O, A>(&mut builder, map)?;
    O::finish(builder)
}

/// Passes buffered entries to a builder.
pub(crate) fn read_entries<O: Object, E: de::Error>(
    builder: &mut O::Builder,
    entries: impl IntoIterator<Item = (Cow<'static, str>, RawJson)>,
) -> Result<(), E> {
    for (key, value) in entries {
        match O::slot(&key) {
            Some(slot) => O::take(builder, slot, &mut BufferedValue::<E>::new(&value))?,
            None => O::extra(builder).push(key, value),
        }
    }
    Ok(())
}

macro_rules! object {
    (@tag) => { None };
    (@tag $tag:literal = $kind:literal) => { Some(($tag, $kind)) };

    (@held required $ty:ty) => { Option<$ty> };
    (@held $rule:ident $ty:ty) => { $ty };

    (@read required $ty:ty, $map:ident) => { Some($map.next_value::<$ty>()?) };
    (@read optional $ty:ty, $map:ident) => { $map.next_value::<$ty>()? };
    (@read nulled $ty:ty, $map:ident) => { $map.next_value::<$ty>()? };
    (@read nullable $ty:ty, $map:ident) => { Some($map.next_value()?) };
    (@read defaulted $ty:ty, $map:ident) => { $map.next_value::<Option<$ty>>()?.unwrap_or_default() };
    (@read sparse $ty:ty, $map:ident) => { $map.next_value::<Option<$ty>>()?.unwrap_or_default() };

    (@finish required $value:expr, $key:literal) => {
        $value.ok_or_else(|| serde::de::Error::missing_field($key))?
    };
    (@finish $rule:ident $value:expr, $key:literal) => { $value };

    (@write optional $value:expr, $key:literal, $ty:ty, $map:ident) => {
        if let Some(value) = &$value {
            $map.serialize_entry($key, value)?;
        }
    };
    (@write nullable $value:expr, $key:literal, $ty:ty, $map:ident) => {
        if let Some(value) = &$value {
            $map.serialize_entry($key, value)?;
        }
    };
    (@write sparse $value:expr, $key:literal, $ty:ty, $map:ident) => {
        if $value != <$ty>::default() {
            $map.serialize_entry($key, &$value)?;
        }
    };
    (@write $rule:ident $value:expr, $key:literal, $ty:ty, $map:ident) => {
        $map.serialize_entry($key, &$value)?;
    };

    (@adapt $value:expr, $features:ident) => {
        $crate::model::Adapt::adapt(&mut $value, $features);
    };
    (@adapt $value:expr, $features:ident, $($gate:ident).+) => {
        if $features.$($gate).+ {
            $crate::model::Adapt::adapt(&mut $value, $features);
        } else {
            $value = Default::default();
        }
    };

    // The constructor takes the required members, in the order of declaration.
    (@new $name:ident [] [$($init:tt)*]) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($init)* extra: $crate::model::Extra::new() }
            }
        }
    };
    (@new $name:ident [$($arg:ident: $ty:ty,)+] [$($init:tt)*]) => {
        impl $name {
            /// Creates the object from its required members; all others are
            /// absent.
            #[must_use]
            pub fn new($($arg: impl Into<$ty>),+) -> Self {
                Self { $($arg: $arg.into(),)+ $($init)* extra: $crate::model::Extra::new() }
            }
        }
    };
    (@new $name:ident [$($args:tt)*] [$($init:tt)*] required $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::model::object::object!(@new $name [$($args)* $field: $ty,] [$($init)*] $($rest)*);
    };
    (@new $name:ident [$($args:tt)*] [$($init:tt)*] $rule:ident $field:ident: $ty:ty, $($rest:tt)*) => {
        $crate::model::object::object!(
            @new $name [$($args)*] [$($init)* $field: Default::default(),] $($rest)*
        );
    };

    (
        $(#[$meta:meta])*
        pub struct $name:ident $(tagged $tag:literal = $kind:literal)? $(adjusted by $hook:path)? {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $ty:ty = $rule:ident $key:literal $(if $($gate:ident).+)?
            ),* $(,)?
            $(; $( $(#[$local_meta:meta])* $local:ident: $local_ty:ty ),* $(,)? )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            $( $( $(#[$local_meta])* pub $local: $local_ty, )* )?
            /// Unknown members, verbatim.
            pub extra: $crate::model::Extra,
        }

        $crate::model::object::object!(
            @new $name [] [] $($rule $field: $ty,)* $($(local $local: $local_ty,)*)?
        );

        const _: () = {
            #[expect(non_camel_case_types, reason = "a variant has the name of its field")]
            enum Slot { $($field),* }

            #[derive(Default)]
            pub(crate) struct Builder {
                $( $field: $crate::model::object::object!(@held $rule $ty), )*
                extra: $crate::model::Extra,
            }

            impl $crate::model::object::Object for $name {
                const NAME: &'static str = stringify!($name);
                const TAG: Option<(&'static str, &'static str)> =
                    $crate::model::object::object!(@tag $($tag = $kind)?);
                type Builder = Builder;

                fn slot(key: &str) -> Option<u8> {
                    match key {
                        $( $key => Some(Slot::$field as u8), )*
                        _ => None,
                    }
                }

                fn take<'de, A: serde::de::MapAccess<'de>>(
                    builder: &mut Builder,
                    slot: u8,
                    map: &mut A,
                ) -> Result<(), A::Error> {
                    $( if slot == Slot::$field as u8 {
                        builder.$field = $crate::model::object::object!(@read $rule $ty, map);
                        return Ok(());
                    } )*
                    Ok(())
                }

                fn extra(builder: &mut Builder) -> &mut $crate::model::Extra {
                    &mut builder.extra
                }

                fn finish<E: serde::de::Error>(builder: Builder) -> Result<Self, E> {
                    Ok(Self {
                        $( $field: $crate::model::object::object!(
                            @finish $rule builder.$field, $key
                        ), )*
                        $( $( $local: Default::default(), )* )?
                        extra: builder.extra,
                    })
                }

                fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                    $( $crate::model::object::object!(@write $rule self.$field, $key, $ty, map); )*
                    self.extra.write(map)
                }
            }

            impl $crate::model::Adapt for $name {
                fn adapt(&mut self, features: &$crate::model::WireFeatures) {
                    $( $hook(self, features); )?
                    $( $crate::model::object::object!(
                        @adapt self.$field, features $(, $($gate).+)?
                    ); )*
                }
            }

            impl serde::Serialize for $name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    $crate::model::object::encode(self, serializer)
                }
            }

            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    $crate::model::object::decode(deserializer)
                }
            }
        };
    };
}
pub(crate) use object;

impl<O: Object> Object for Box<O> {
    const NAME: &'static str = O::NAME;
    const TAG: Option<(&'static str, &'static str)> = O::TAG;
    type Builder = O::Builder;

    fn slot(key: &str) -> Option<u8> {
        O::slot(key)
    }

    fn take<'de, A: MapAccess<'de>>(
        builder: &mut O::Builder,
        slot: u8,
        map: &mut A,
    ) -> Result<(), A::Error> {
        O::take(builder, slot, map)
    }

    fn extra(builder: &mut O::Builder) -> &mut Extra {
        O::extra(builder)
    }

    fn finish<E: de::Error>(builder: O::Builder) -> Result<Self, E> {
        O::finish(builder).map(Self::new)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        O::write(self, map)
    }
}

fn read_map<'de, O: Object, A: MapAccess<'de>>(
    builder: &mut O::Builder,
    map: &mut A,
) -> Result<(), A::Error> {
    let names = KeySeed {
        slot: O::slot,
        tag: O::TAG,
    };
    while let Some(slot) = next_known(names, O::extra(builder), map)? {
        O::take(builder, slot, map)?;
    }
    Ok(())
}

/// The keys of an object.
#[derive(Clone, Copy)]
struct KeySeed {
    slot: fn(&str) -> Option<u8>,
    tag: Option<(&'static str, &'static str)>,
}

/// Reads up to the key of the next known member, and keeps the unknown ones.
///
/// Objects differ only in their names here, so they all share this code.
#[inline(never)]
fn next_known<'de, A: MapAccess<'de>>(
    names: KeySeed,
    extra: &mut Extra,
    map: &mut A,
) -> Result<Option<u8>, A::Error> {
    while let Some(key) = map.next_key_seed(names)? {
        match key {
            Key::Known(slot) => return Ok(Some(slot)),
            Key::Tag(kind) => map.next_value_seed(ExpectKind(kind))?,
            Key::Unknown(key) => extra.push(key, map.next_value()?),
        }
    }
    Ok(None)
}

struct ObjectVisitor<O>(PhantomData<O>);

impl<'de, O: Object> Visitor<'de> for ObjectVisitor<O> {
    type Value = O;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} object", O::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<O, A::Error> {
        let mut builder = O::Builder::default();
        read_map::<O, A>(&mut builder, &mut map)?;
        O::finish(builder)
    }
}

enum Key {
    Known(u8),
    /// The tag, with its required value.
    Tag(&'static str),
    Unknown(Cow<'static, str>),
}

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Key, E> {
        Ok(match ((self.slot)(key), self.tag) {
            (Some(slot), _) => Key::Known(slot),
            (None, Some((tag, kind))) if tag == key => Key::Tag(kind),
            (None, _) => Key::Unknown(Cow::Owned(key.into())),
        })
    }
}

/// Reads a tag's value and refuses any but the expected one.
struct ExpectKind(&'static str);

impl<'de> DeserializeSeed<'de> for ExpectKind {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for ExpectKind {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }

    fn visit_str<E: de::Error>(self, kind: &str) -> Result<(), E> {
        if kind == self.0 {
            Ok(())
        } else {
            Err(E::invalid_value(Unexpected::Str(kind), &self))
        }
    }
}

/// A buffered entry, presented as a map.
struct BufferedValue<'a, E> {
    value: &'a RawJson,
    error: PhantomData<E>,
}

impl<'a, E> BufferedValue<'a, E> {
    fn new(value: &'a RawJson) -> Self {
        Self {
            value,
            error: PhantomData,
        }
    }
}

impl<'a, E: de::Error> MapAccess<'a> for BufferedValue<'a, E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, _: K) -> Result<Option<K::Value>, E> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, E> {
        let mut deserializer = serde_json::Deserializer::from_str(self.value.get());
        seed.deserialize(&mut deserializer)
            .map_err(|error| E::custom(message_without_position(&error)))
    }
}
