//! Fast check of simple schemas, directly on JSON text.
//!
//! Most schemas only list members and their types. Whether a value matches such
//! a schema can be checked in one pass over its JSON, without building values.
//! The check only accepts what is certainly valid: schemas that are not simple,
//! and values that may not match, are left to the validator, which also writes
//! the error messages.

mod cursor;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::cursor::{JsonCursor, Text};
use crate::validate::{equal, simple_pattern::SimplePattern};

/// A simple schema that is checked on JSON text.
///
/// It never accepts what the schema rejects, but may reject what the schema
/// accepts: use a [`Validator`](crate::Validator) then.
///
/// ```
/// use bowline_schema::TextCheck;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let check = TextCheck::compile(&schema).expect("the schema is simple");
/// assert!(check.is_surely_valid(r#"{"days": 3}"#));
/// assert!(!check.is_surely_valid(r#"{"days": "three"}"#));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCheck {
    /// The allowed types, one bit each.
    types: u8,
    minimum: Option<i64>,
    maximum: Option<i64>,
    length: Size,
    item_count: Size,
    /// The allowed strings of an `enum` or `const`, sorted.
    strings: Option<Vec<Box<str>>>,
    pattern: Option<SimplePattern>,
    items: Option<Box<TextCheck>>,
    members: Vec<Member>,
    /// The required members, one bit each.
    required: u64,
    /// Whether other members are forbidden.
    denies_additional: bool,
    /// Objects that a member tells apart, instead of the members here.
    tagged: Option<Tagged>,
}

/// A schema for all values.
static ANYTHING: TextCheck = TextCheck {
    types: ANY,
    minimum: None,
    maximum: None,
    length: Size { min: 0, max: None },
    item_count: Size { min: 0, max: None },
    strings: None,
    pattern: None,
    items: None,
    members: Vec::new(),
    required: 0,
    denies_additional: false,
    tagged: None,
};

/// Alternatives of which a value can only match the one that a member names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tagged {
    name: Box<str>,
    /// The values of the member, with what objects are then.
    alternatives: Vec<Member>,
}

/// How long a string, or how large an array, may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    min: u64,
    max: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: Box<str>,
    schema: TextCheck,
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
/// Numbers not written as integers.
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;
const ANY: u8 = 127;

/// Up to this many texts are compared one by one, which is faster than sorting or
/// hashing.
const FEW: usize = 8;

/// The maximum nesting depth of a schema. A recursive schema always exceeds it.
const MAX_DEPTH: usize = 16;

impl TextCheck {
    /// Compiles a schema, or returns `None` if it is not simple enough.
    #[must_use]
    pub fn compile(schema: &Value) -> Option<Self> {
        let shared = schema.get("$defs").and_then(Value::as_object);
        Self::compile_at_depth(schema, shared, 0)
    }

    /// Returns whether `json`, which must be valid JSON, certainly matches.
    #[must_use]
    pub fn is_surely_valid(&self, json: &str) -> bool {
        JsonCursor::new(json).value(self).is_some()
    }

    fn compile_at_depth(
        schema: &Value,
        shared: Option<&Map<String, Value>>,
        depth: usize,
    ) -> Option<Self> {
        let mut plain = ANYTHING.clone();
        let members = match schema {
            Value::Bool(true) => return Some(plain),
            Value::Object(members) if depth < MAX_DEPTH => members,
            _ => return None,
        };
        let compile_child = |schema: &Value| Self::compile_at_depth(schema, shared, depth + 1);
        let mut target = None;
        for (key, value) in members {
            match key.as_str() {
                "required" => {}
                "$schema" | "$defs" if depth == 0 => {}
                // Two of these would both have to hold.
                "$ref" | "anyOf" | "oneOf" if target.is_some() => return None,
                "items" => plain.items = Some(Box::new(compile_child(value)?)),
                "properties" => {
                    let members = value.as_object()?.iter();
                    plain.members = members
                        .map(|(name, it)| Member::new(name, compile_child(it)?))
                        .collect::<Option<_>>()?;
                }
                "$ref" => {
                    let name = value.as_str()?.strip_prefix("#/$defs/")?;
                    target = Some(compile_child(shared?.get(name)?)?);
                }
                "anyOf" | "oneOf" => {
                    let schemas = value.as_array()?.iter().map(compile_child);
                    let schemas: Vec<Self> = schemas.collect::<Option<_>>()?;
                    let nullable = nullable(&schemas, key == "oneOf");
                    target = Some(nullable.or_else(|| Tagged::one_of(&schemas))?);
                }
                _ => plain.value_keyword(key, value)?,
            }
        }
        if let Some(target) = target {
            // Keywords beside the reference would have to hold too.
            return (plain.allows_anything() && !members.contains_key("required"))
                .then_some(target);
        }
        plain.required = plain.required(members.get("required"))?;
        if plain.strings.is_some() {
            plain.types &= STRING;
        }
        // There is a bit for every member.
        (plain.members.len() <= u64::BITS as usize).then_some(plain)
    }

    /// Reads a keyword that needs no other schema, if it is known.
    fn value_keyword(&mut self, key: &str, value: &Value) -> Option<()> {
        match key {
            "title" | "description" | "default" | "examples" | "deprecated" | "$comment"
            | "format" => {}
            "type" => self.types = types(value)?,
            "minimum" => self.minimum = Some(value.as_i64()?),
            "maximum" => self.maximum = Some(value.as_i64()?),
            "minLength" | "maxLength" => self.length.limit(key, value)?,
            "minItems" | "maxItems" => self.item_count.limit(key, value)?,
            // Both would have to hold.
            "enum" | "const" if self.strings.is_some() => return None,
            "enum" => {
                let strings = value.as_array()?.iter().map(unescaped_string);
                let mut strings: Vec<_> = strings.collect::<Option<_>>()?;
                strings.sort_unstable();
                self.strings = Some(strings);
            }
            "const" => self.strings = Some(vec![unescaped_string(value)?]),
            "pattern" => self.pattern = Some(SimplePattern::new(value.as_str()?)?),
            "additionalProperties" => self.denies_additional = !value.as_bool()?,
            extension if extension.starts_with("x-") => {}
            _ => return None,
        }
        Some(())
    }

    /// Returns the index of a member, which is probably the one after the last.
    fn find(&self, name: &str, probably: usize) -> Option<usize> {
        let is_here = |it: &Member| same_text(&it.name, name);
        match self.members.get(probably) {
            Some(member) if is_here(member) => Some(probably),
            _ => self.members.iter().position(is_here),
        }
    }

    fn allows_anything(&self) -> bool {
        *self == ANYTHING
    }

    /// Returns a bit for each required member.
    fn required(&self, names: Option<&Value>) -> Option<u64> {
        let Some(names) = names else {
            return Some(0);
        };
        let mut required = 0;
        for name in names.as_array()? {
            let name = name.as_str()?;
            required |= 1 << self.members.iter().position(|it| *it.name == *name)?;
        }
        Some(required)
    }

    /// Returns the only value of a required member.
    fn tag(&self, name: &str) -> Option<&str> {
        let at = self.members.iter().position(|it| *it.name == *name)?;
        match self.members[at].schema.strings.as_deref() {
            Some([only]) if self.required & 1 << at != 0 => Some(only),
            _ => None,
        }
    }

    fn has_bounds(&self) -> bool {
        self.minimum.is_some() || self.maximum.is_some()
    }

    fn is_in_bounds(&self, number: i64) -> bool {
        self.minimum.is_none_or(|min| min <= number) && self.maximum.is_none_or(|max| number <= max)
    }
}

impl Size {
    /// Adds a limit, whose keyword says whether it is the lower or the upper one.
    fn limit(&mut self, keyword: &str, value: &Value) -> Option<()> {
        let limit = value.as_u64()?;
        match keyword.starts_with("min") {
            true => self.min = limit,
            false => self.max = Some(limit),
        }
        Some(())
    }

    fn contains(self, size: usize) -> bool {
        let size = size as u64;
        self.min <= size && self.max.is_none_or(|max| size <= max)
    }

    /// Returns whether a string certainly has a length within these.
    fn contains_length_of(self, text: Text<'_>) -> bool {
        self == Self::default() || !text.is_escaped && self.contains(text.raw.chars().count())
    }
}

impl Member {
    /// Returns a member, if its name needs no escapes in JSON.
    fn new(name: &str, plain: TextCheck) -> Option<Self> {
        let is_unescaped = name
            .bytes()
            .all(|byte| !matches!(byte, b'"' | b'\\' | 0..b' '));
        is_unescaped.then(|| Self {
            name: name.into(),
            schema: plain,
        })
    }
}

fn types(value: &Value) -> Option<u8> {
    match value {
        Value::String(name) => Some(match name.as_str() {
            "null" => NULL,
            "boolean" => BOOLEAN,
            "integer" => INTEGER,
            "number" => INTEGER | FRACTION,
            "string" => STRING,
            "array" => ARRAY,
            "object" => OBJECT,
            _ => return None,
        }),
        Value::Array(names) => names
            .iter()
            .map(|name| types(name).filter(|_| name.is_string()))
            .try_fold(0, |all, one| Some(all | one?)),
        _ => None,
    }
}

/// Returns the string, if it needs no escapes in JSON.
fn unescaped_string(value: &Value) -> Option<Box<str>> {
    let text = value.as_str()?;
    let is_unescaped = text
        .bytes()
        .all(|byte| !matches!(byte, b'"' | b'\\' | 0..b' '));
    is_unescaped.then(|| text.into())
}

/// Returns one schema for two, the second of which is that of `null`.
fn nullable(schemas: &[TextCheck], is_exclusive: bool) -> Option<TextCheck> {
    let null = TextCheck {
        types: NULL,
        ..ANYTHING.clone()
    };
    match schemas {
        [one, _] if is_exclusive && one.types & NULL != 0 => None,
        [one, other] if *other == null => Some(TextCheck {
            types: one.types | NULL,
            ..one.clone()
        }),
        _ => None,
    }
}

impl Tagged {
    /// Returns a schema for one of several objects, if they all require a member whose
    /// only value is different in each.
    fn one_of(schemas: &[TextCheck]) -> Option<TextCheck> {
        let are_objects = schemas.iter().all(|it| it.types == OBJECT);
        let mut names = schemas.first()?.members.iter().map(|member| &member.name);
        let (name, tags) = names.find_map(|name| {
            let tags = schemas.iter().map(|it| it.tag(name));
            let tags: Vec<&str> = tags.collect::<Option<_>>()?;
            let is_new = |at: usize| !tags[..at].contains(&tags[at]);
            (0..tags.len()).all(is_new).then_some((name, tags))
        })?;
        let name = name.clone();
        let alternatives = tags.iter().zip(schemas).map(|(tag, schema)| Member {
            name: (*tag).into(),
            schema: schema.clone(),
        });
        let alternatives = alternatives.collect();
        are_objects.then(|| TextCheck {
            types: OBJECT,
            tagged: Some(Self { name, alternatives }),
            ..ANYTHING.clone()
        })
    }
}

fn same_text(one: &str, other: &str) -> bool {
    equal::same_text(one.as_bytes(), other.as_bytes())
}
