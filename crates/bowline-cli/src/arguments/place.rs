//! Places in arguments: what is there, and what is expected there.

use bowline_schema::shape::{Shape, Type};
use serde_json::Value;

use super::{alternatives::ObjectAlternative, coerce, problem::expected_type};

/// A place in arguments.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    /// How a person writes it: `point.x`, `tags[1]`.
    pub(super) path: String,
    /// The value there; `null` if there is none.
    pub(super) value: &'a Value,
    /// The types that it may have, by the alternatives that may be meant.
    types: Vec<&'a Type>,
    shape: &'a Shape,
}

impl<'a> Place<'a> {
    /// Returns the place of the arguments themselves.
    pub(super) fn new(shape: &'a Shape, arguments: &'a Value) -> Self {
        Self {
            path: String::new(),
            value: arguments,
            types: vec![shape.root()],
            shape,
        }
    }

    /// Returns the place at a JSON Pointer, or the last one on the way that
    /// exists: long pointers are truncated.
    pub(super) fn at(mut self, pointer: &str) -> Self {
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            let next = match self.value {
                Value::Array(_) => name.parse().ok().and_then(|index| self.item(index)),
                Value::Object(members) if members.contains_key(&name) => Some(self.member(&name)),
                _ => None,
            };
            match next {
                Some(next) => self = next,
                None => break,
            }
        }
        self
    }

    /// Returns the place of a member, whether it is there or not.
    pub(super) fn member(&self, name: &str) -> Self {
        let types = self.meant_alternatives().into_iter();
        let types = types.filter_map(|alternative| alternative.member_type(name));
        Self {
            path: match self.path.as_str() {
                "" => name.to_owned(),
                path => format!("{path}.{name}"),
            },
            value: self.value.get(name).unwrap_or(&Value::Null),
            types: types.collect(),
            shape: self.shape,
        }
    }

    fn item(&self, index: usize) -> Option<Self> {
        let lists = self.types.iter();
        let lists = lists.flat_map(|ty| coerce::list_types(self.shape, ty));
        let types = lists.filter_map(|list| coerce::item_type(list, index));
        Some(Self {
            path: format!("{}[{index}]", self.path),
            value: self.value.get(index)?,
            types: types.collect(),
            shape: self.shape,
        })
    }

    /// Returns the alternatives that no member contradicts; all, if there is
    /// none.
    fn meant_alternatives(&self) -> Vec<ObjectAlternative<'a>> {
        let types = self.types.iter();
        let all = types.flat_map(|ty| ObjectAlternative::enumerate(self.shape, ty));
        let all: Vec<_> = all.collect();
        let Value::Object(members) = self.value else {
            return all;
        };
        let is_meant = |it: &ObjectAlternative<'_>| it.distance(self.shape, members).0 == 0;
        let meant: Vec<_> = all.iter().copied().filter(is_meant).collect();
        match meant.is_empty() {
            true => all,
            false => meant,
        }
    }

    /// Returns the type that is expected there.
    pub(super) fn expected(&self) -> Option<String> {
        let types = self.types.iter().copied();
        (!self.types.is_empty()).then(|| expected_type(self.shape, types))
    }

    /// Returns whether the value has that type.
    pub(super) fn fits(&self) -> bool {
        let mut types = self.types.iter();
        types.any(|ty| self.shape.fits(ty, self.value))
    }

    /// Returns the description of what is expected.
    pub(super) fn description(&self) -> Option<&'a str> {
        let mut types = self.types.iter();
        types.find_map(|ty| self.shape.description(ty))
    }
}
