//! Tagged unions: objects distinguished by one member, such as content blocks
//! by `type`.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer, Serializer,
    de::{self, DeserializeSeed, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{Extra, object::Entries};
use crate::jsonrpc::RawJson;

/// A variant of a tagged union whose tag is unknown.
///
/// It is sent back verbatim.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnknownKind {
    /// The value of the tag.
    pub kind: Box<str>,
    /// All members except the tag, in order.
    pub fields: Extra,
}

impl UnknownKind {
    pub(crate) fn encode<S: Serializer>(
        &self,
        tag: &'static str,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(tag, &self.kind)?;
        self.fields.write(&mut map)?;
        map.end()
    }

    pub(crate) fn resume<'de, A: MapAccess<'de>>(
        kind: Box<str>,
        buffered: Entries,
        map: &mut A,
    ) -> Result<Self, A::Error> {
        let mut fields: Extra = buffered.into_iter().collect();
        while let Some((key, value)) = map.next_entry::<String, RawJson>()? {
            fields.push(Cow::Owned(key), value);
        }
        Ok(Self { kind, fields })
    }
}

/// Defines an enum over objects that are `tagged` by the same member.
///
/// The tag usually comes first; then the object is decoded straight from the
/// map. Entries before the tag are buffered until the kind is known.
macro_rules! tagged_union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$variant_meta:meta])* $variant:ident($inner:ty) ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant($inner), )*
            /// An unknown kind.
            Unknown($crate::model::UnknownKind),
        }

        impl $name {
            /// Returns the value of the tag.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$variant(_) => {
                        <$inner as $crate::model::object::Object>::TAG.map_or("", |(_, kind)| kind)
                    } )*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }
        }

        $(
            impl From<$inner> for $name {
                fn from(inner: $inner) -> Self {
                    Self::$variant(inner)
                }
            }
        )*

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$variant(inner) => inner.serialize(serializer), )*
                    Self::Unknown(unknown) => unknown.encode($tag, serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct UnionVisitor;

                impl<'de> serde::de::Visitor<'de> for UnionVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("a ", stringify!($name), " object"))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name, A::Error> {
                        const KINDS: &[&str] = &[$(
                            match <$inner as $crate::model::object::Object>::TAG {
                                Some((_, kind)) => kind,
                                None => panic!("a variant's object needs a tag"),
                            },
                        )*];
                        let (kind, buffered) = $crate::model::tagged::read_tag(&mut map, $tag, KINDS)?;
                        let kind = match kind {
                            $crate::model::tagged::Kind::Known(kind) => kind,
                            $crate::model::tagged::Kind::Unknown(kind) => {
                                return $crate::model::UnknownKind::resume(kind, buffered, &mut map)
                                    .map($name::Unknown);
                            }
                        };
                        $(
                            if <$inner as $crate::model::object::Object>::TAG == Some(($tag, kind)) {
                                return $crate::model::object::resume::<$inner, A>(buffered, &mut map)
                                    .map($name::$variant);
                            }
                        )*
                        Err(serde::de::Error::unknown_variant(kind, KINDS))
                    }
                }

                deserializer.deserialize_map(UnionVisitor)
            }
        }
    };
}
pub(crate) use tagged_union;

/// The value of a tag.
pub(crate) enum Kind {
    /// One of the expected kinds.
    Known(&'static str),
    /// Any other kind.
    Unknown(Box<str>),
}

/// Reads up to and including the tag; also returns the entries before it.
pub(crate) fn read_tag<'de, A: MapAccess<'de>>(
    map: &mut A,
    tag: &'static str,
    kinds: &'static [&'static str],
) -> Result<(Kind, Entries), A::Error> {
    let mut buffered = Vec::new();
    while let Some(key) = map.next_key_seed(TagOrKey(tag))? {
        match key {
            None => return Ok((map.next_value_seed(KindSeed(kinds))?, buffered)),
            Some(key) => buffered.push((Cow::Owned(key), map.next_value()?)),
        }
    }
    Err(de::Error::missing_field(tag))
}

/// Reads a key: `None` for the tag, `Some` for any other.
struct TagOrKey(&'static str);

impl<'de> DeserializeSeed<'de> for TagOrKey {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for TagOrKey {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok((key != self.0).then(|| key.to_owned()))
    }
}

struct KindSeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KindSeed {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KindSeed {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, kind: &str) -> Result<Kind, E> {
        Ok(match self.0.iter().find(|known| **known == kind) {
            Some(known) => Kind::Known(known),
            None => Kind::Unknown(kind.into()),
        })
    }
}
