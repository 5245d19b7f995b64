//! Numbering of JSON values, so that equal ones have the same number.
//!
//! Members may be in any order, and numbers may be written in any way. Values may
//! be deep, so nothing here is recursive.

use std::{collections::HashMap, slice};

use serde_json::{Number, Value, map};

use super::keyword::Role;
use crate::validate::equal::{as_i128, float};

/// The number of a value.
pub(super) type Id = u32;

/// All values that were numbered.
#[derive(Default)]
pub(super) struct Canonical<'a> {
    ids: HashMap<Form<'a>, Id>,
}

/// How to read a value: the order of some arrays in a schema does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Data,
    Schema,
    SchemaList,
    SchemaMap,
    Set,
}

/// A value whose parts are numbers.
#[derive(PartialEq, Eq, Hash)]
enum Form<'a> {
    Null,
    Bool(bool),
    Whole(i128),
    Fraction(u64),
    Text(&'a str),
    List(Vec<Id>),
    Object(Vec<(&'a str, Id)>),
}

/// An array or object some of whose parts have a number.
enum Frame<'a> {
    List(slice::Iter<'a, Value>, Reading, Vec<Id>),
    Object(map::Iter<'a>, Reading, Vec<(&'a str, Id)>),
}

impl<'a> Canonical<'a> {
    /// Returns the number of a value.
    pub(super) fn id(&mut self, value: &'a Value, reading: Reading) -> Id {
        let mut stack: Vec<Frame<'a>> = Vec::new();
        let mut next = (value, reading);
        loop {
            let mut done = match next {
                (Value::Array(items), reading) => {
                    stack.push(Frame::List(items.iter(), reading, Vec::new()));
                    None
                }
                (Value::Object(members), reading) => {
                    stack.push(Frame::Object(members.iter(), reading, Vec::new()));
                    None
                }
                (leaf, _) => Some(self.intern(Form::of_leaf(leaf))),
            };
            next = loop {
                let Some(frame) = stack.last_mut() else {
                    return done.unwrap_or_default();
                };
                if let Some(part) = done.take() {
                    frame.add(part);
                }
                match frame.next() {
                    Some(part) => break part,
                    None => {
                        let form = stack.pop().map(Frame::finish);
                        done = form.map(|form| self.intern(form));
                    }
                }
            };
        }
    }

    fn intern(&mut self, form: Form<'a>) -> Id {
        // A document of a few megabytes has fewer values.
        let next = Id::try_from(self.ids.len()).unwrap_or(Id::MAX);
        *self.ids.entry(form).or_insert(next)
    }
}

impl<'a> Frame<'a> {
    /// Returns the next part to number.
    fn next(&mut self) -> Option<(&'a Value, Reading)> {
        match self {
            Self::List(rest, reading, _) => {
                let reading = match reading {
                    Reading::SchemaList => Reading::Schema,
                    _ => Reading::Data,
                };
                rest.next().map(|item| (item, reading))
            }
            Self::Object(rest, reading, done) => {
                let (name, member) = rest.next()?;
                // Its number follows.
                done.push((name, Id::MAX));
                Some((member, reading.of_member(name, member)))
            }
        }
    }

    fn add(&mut self, part: Id) {
        match self {
            Self::List(_, _, done) => done.push(part),
            Self::Object(_, _, done) => {
                if let Some((_, id)) = done.last_mut() {
                    *id = part;
                }
            }
        }
    }

    fn finish(self) -> Form<'a> {
        match self {
            Self::List(_, reading, mut done) => {
                if reading == Reading::Set {
                    done.sort_unstable();
                    done.dedup();
                }
                Form::List(done)
            }
            Self::Object(_, _, mut done) => {
                done.sort_unstable();
                Form::Object(done)
            }
        }
    }
}

impl Reading {
    fn of_member(self, name: &str, member: &Value) -> Self {
        match self {
            Self::Data | Self::Set | Self::SchemaList => Self::Data,
            Self::SchemaMap if member.is_array() => Self::Data,
            Self::SchemaMap => Self::Schema,
            Self::Schema => match Role::of(name) {
                Role::Schema => Self::Schema,
                Role::SchemaOrList if member.is_array() => Self::SchemaList,
                Role::SchemaOrList => Self::Schema,
                Role::SchemaList => Self::SchemaList,
                Role::SchemaMap | Role::Dependencies | Role::Definitions => Self::SchemaMap,
                Role::Set => Self::Set,
                _ => Self::Data,
            },
        }
    }
}

impl<'a> Form<'a> {
    fn of_leaf(value: &'a Value) -> Self {
        match value {
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => Self::of_number(number),
            Value::String(text) => Self::Text(text),
            _ => Self::Null,
        }
    }

    fn of_number(number: &Number) -> Self {
        as_i128(number).map_or_else(|| Self::Fraction(float(number).to_bits()), Self::Whole)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(left: &Value, right: &Value, reading: Reading, expected: bool) {
        let mut canonical = Canonical::default();
        let same = canonical.id(left, reading) == canonical.id(right, reading);
        assert_eq!(same, expected, "{left} and {right}");
    }

    #[test]
    fn equal_values_have_the_same_number() {
        for (left, right, expected) in [
            (
                json!({"a": 1, "b": [2.0]}),
                json!({"b": [2], "a": 1.0}),
                true,
            ),
            (json!([]), json!({}), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!([[], [1]]), json!([[1], []]), false),
            (json!(null), json!(false), false),
            (json!(0), json!(-0.0), true),
            (json!(1.5), json!(1.5), true),
            (json!(u64::MAX), json!(u64::MAX - 1), false),
            (json!("1"), json!(1), false),
            (json!({"enum": [1, 2]}), json!({"enum": [2, 1]}), false),
        ] {
            check(&left, &right, Reading::Data, expected);
        }
    }

    #[test]
    fn the_order_of_a_set_in_a_schema_does_not_matter() {
        for (left, right, expected) in [
            (
                json!({"required": ["a", "b"]}),
                json!({"required": ["b", "a"]}),
                true,
            ),
            (
                json!({"properties": {"enum": {"enum": [1, 2]}}}),
                json!({"properties": {"enum": {"enum": [2, 1]}}}),
                true,
            ),
            (
                json!({"const": {"enum": [1, 2]}}),
                json!({"const": {"enum": [2, 1]}}),
                false,
            ),
            (
                json!({"anyOf": [{"type": "null"}, true]}),
                json!({"anyOf": [true, {"type": "null"}]}),
                false,
            ),
        ] {
            check(&left, &right, Reading::Schema, expected);
        }
    }
}
