//! Fast check of simple schemas, directly on JSON text.
//!
//! Most schemas only list members and their types. Whether a value matches such
//! a schema can be checked in one pass over its JSON, without building values.
//! The check only accepts what is certainly valid: schemas that are not simple,
//! and values that may not match, are left to the validator, which also writes
//! the error messages.

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use memchr::memchr2;
use serde_json::{Map, Value};

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

/// The number of bytes of a string that are looked at one by one.
const SHORT: usize = 16;

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
        let mut text = JsonCursor { json, position: 0 };
        text.value(self).is_some()
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
                // Two of the same kind would both have to hold.
                "$ref" | "anyOf" | "oneOf" if target.is_some() => return None,
                "enum" | "const" if plain.strings.is_some() => return None,
                "title" | "description" | "default" | "examples" | "deprecated" | "$comment"
                | "format" | "required" => {}
                "$schema" | "$defs" if depth == 0 => {}
                "type" => plain.types = types(value)?,
                "minimum" => plain.minimum = Some(value.as_i64()?),
                "maximum" => plain.maximum = Some(value.as_i64()?),
                "minLength" | "maxLength" => plain.length.limit(key, value)?,
                "minItems" | "maxItems" => plain.item_count.limit(key, value)?,
                "enum" => {
                    let mut strings: Vec<_> = value
                        .as_array()?
                        .iter()
                        .map(unescaped_string)
                        .collect::<Option<_>>()?;
                    strings.sort_unstable();
                    plain.strings = Some(strings);
                }
                "items" => plain.items = Some(Box::new(compile_child(value)?)),
                "properties" => {
                    let members = value.as_object()?.iter();
                    plain.members = members
                        .map(|(name, it)| Member::new(name, compile_child(it)?))
                        .collect::<Option<_>>()?;
                }
                "additionalProperties" => plain.denies_additional = !value.as_bool()?,
                "$ref" => {
                    let name = value.as_str()?.strip_prefix("#/$defs/")?;
                    target = Some(compile_child(shared?.get(name)?)?);
                }
                "const" => plain.strings = Some(vec![unescaped_string(value)?]),
                "pattern" => plain.pattern = Some(SimplePattern::new(value.as_str()?)?),
                "anyOf" | "oneOf" => {
                    let schemas = value.as_array()?.iter().map(compile_child);
                    let schemas: Vec<Self> = schemas.collect::<Option<_>>()?;
                    let nullable = nullable(&schemas, key == "oneOf");
                    target = Some(nullable.or_else(|| Tagged::new(&schemas))?);
                }
                extension if extension.starts_with("x-") => {}
                _ => return None,
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

    /// Returns whether a string, still escaped, certainly has a length within these.
    fn contains_length_of(self, text: &[u8]) -> bool {
        if self == Self::default() {
            return true;
        }
        let is_start = |byte: &&u8| !matches!(byte, 0x80..0xc0);
        let length = text.iter().filter(is_start).count();
        self.contains(length) && !text.contains(&b'\\')
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
    fn new(schemas: &[TextCheck]) -> Option<TextCheck> {
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

/// A position in a JSON string. Each method skips something at the front, or
/// returns `None` if that is not certainly what it should be.
struct JsonCursor<'a> {
    json: &'a str,
    position: usize,
}

impl<'a> JsonCursor<'a> {
    fn value(&mut self, schema: &TextCheck) -> Option<()> {
        let allowed = |kind: u8| (schema.types & kind != 0).then_some(());
        match self.peek()? {
            b'"' => {
                allowed(STRING)?;
                let text = self.string()?;
                schema
                    .length
                    .contains_length_of(text.as_bytes())
                    .then_some(())?;
                if let Some(pattern) = &schema.pattern {
                    (!text.contains('\\') && pattern.is_match(text)).then_some(())?;
                }
                let Some(strings) = &schema.strings else {
                    return Some(());
                };
                let found = match strings.len() > FEW {
                    true => strings.binary_search_by(|it| (**it).cmp(text)).is_ok(),
                    false => strings.iter().any(|it| same_text(it, text)),
                };
                found.then_some(())
            }
            b'{' => allowed(OBJECT).and_then(|()| self.object(schema)),
            b'[' => allowed(ARRAY).and_then(|()| self.array(schema)),
            b't' => allowed(BOOLEAN).and_then(|()| self.literal(b"true")),
            b'f' => allowed(BOOLEAN).and_then(|()| self.literal(b"false")),
            b'n' => allowed(NULL).and_then(|()| self.literal(b"null")),
            b'-' | b'0'..=b'9' => self.number(schema),
            _ => None,
        }
    }

    /// Skips whitespace and returns the next byte.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.json.as_bytes().get(self.position)? {
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\t' | b'\n' | b'\r' => self.position += 1,
                _ => return None,
            }
        }
    }

    /// Skips whitespace and the next byte, if it is this one.
    fn byte(&mut self, byte: u8) -> bool {
        let matched = self.peek() == Some(byte);
        self.position += usize::from(matched);
        matched
    }

    /// Skips whitespace and the comma before something else, or the byte that ends what
    /// surrounds it. Returns whether it ends.
    fn ends(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        self.position += 1;
        (next == b',' || next == end).then_some(next == end)
    }

    fn rest(&self) -> &'a [u8] {
        &self.json.as_bytes()[self.position..]
    }

    fn literal(&mut self, literal_bytes: &[u8]) -> Option<()> {
        self.rest().starts_with(literal_bytes).then_some(())?;
        self.position += literal_bytes.len();
        Some(())
    }

    /// Returns the contents of a string, still escaped.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.position + 1;
        let end = start + closing_quote(self.json.as_bytes().get(start..)?)?;
        self.position = end + 1;
        self.json.get(start..end)
    }

    fn number(&mut self, schema: &TextCheck) -> Option<()> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = &rest[..length.unwrap_or(rest.len())];
        self.position += number.len();
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        let whole = digits.iter().all(u8::is_ascii_digit);
        // A number with a zero fraction is an integer too; that is left to the
        // validator.
        let kind = if whole { INTEGER } else { FRACTION };
        (schema.types & kind != 0).then_some(())?;
        if schema.has_bounds() {
            let (low, high) = neighbours(number)?;
            return (schema.is_in_bounds(low) && schema.is_in_bounds(high)).then_some(());
        }
        Some(())
    }

    fn array(&mut self, schema: &TextCheck) -> Option<()> {
        let items = schema.items.as_deref().unwrap_or(&ANYTHING);
        let is_allowed = |count: usize| schema.item_count.contains(count).then_some(());
        self.position += 1;
        if self.byte(b']') {
            return is_allowed(0);
        }
        for count in 1.. {
            self.value(items)?;
            if self.ends(b']')? {
                return is_allowed(count);
            }
        }
        None
    }

    fn object(&mut self, schema: &TextCheck) -> Option<()> {
        if let Some(tagged) = &schema.tagged {
            let alternative = self.alternative(tagged)?;
            return self.object(alternative);
        }
        let mut seen_members = 0;
        let mut others = UnknownNames::default();
        let mut next = 0;
        self.members(|this, name| {
            match schema.find(name, next) {
                // Duplicate members are left to the validator.
                Some(at) if seen_members & (1 << at) != 0 => None,
                Some(at) => {
                    next = at + 1;
                    seen_members |= 1 << at;
                    this.value(&schema.members[at].schema)
                }
                // A name with an escape may be a known one.
                None if schema.denies_additional || name.contains('\\') => None,
                None if !others.insert(name) => None,
                None => this.value(&ANYTHING),
            }
        })?;
        (schema.required & !seen_members == 0).then_some(())
    }

    /// Skips an object, of which the function skips the values.
    fn members(&mut self, mut value: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.position += 1;
        if self.byte(b'}') {
            return Some(());
        }
        loop {
            (self.peek()? == b'"').then_some(())?;
            let name = self.string()?;
            self.byte(b':').then_some(())?;
            value(self, name)?;
            if self.ends(b'}')? {
                return Some(());
            }
        }
    }

    /// Looks for the member that tells what an object is, without skipping the object.
    fn alternative<'t>(&self, tagged: &'t Tagged) -> Option<&'t TextCheck> {
        let mut ahead = JsonCursor { ..*self };
        let mut tag = None;
        ahead.members(|this, name| {
            if *name != *tagged.name {
                return this.value(&ANYTHING);
            }
            // There is nothing more to look for. A second one is rejected later.
            tag = (this.peek()? == b'"').then(|| this.string()).flatten();
            None
        });
        let tag = tag?;
        let mut alternatives = tagged.alternatives.iter();
        let alternative = alternatives.find(|it| same_text(&it.name, tag))?;
        Some(&alternative.schema)
    }
}

/// Returns the nearest whole numbers below and above a number, both the number itself if
/// it is one. `None` if it has an exponent or is too large.
fn neighbours(number: &[u8]) -> Option<(i64, i64)> {
    let number = str::from_utf8(number).ok()?;
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole.parse().ok()?, fraction),
        None => (number.parse().ok()?, ""),
    };
    let is_plain = fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then_some(match (fraction, number.starts_with('-')) {
        ("", _) => (whole, whole),
        (_, false) => (whole, whole.saturating_add(1)),
        (_, true) => (whole.saturating_sub(1), whole),
    })
}

fn same_text(one: &str, other: &str) -> bool {
    equal::same_text(one.as_bytes(), other.as_bytes())
}

/// Returns where the string ends whose contents `rest` begins with.
fn closing_quote(rest: &[u8]) -> Option<usize> {
    // Most strings are short: a search for them begins later than it ends.
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\');
    let short = &rest[..rest.len().min(SHORT)];
    let mut from = match short.iter().position(is_special) {
        Some(at) if rest[at] == b'"' => return Some(at),
        Some(at) => at,
        None => short.len(),
    };
    loop {
        let at = from + memchr2(b'"', b'\\', rest.get(from..)?)?;
        if rest[at] == b'"' {
            return Some(at);
        }
        // The character after a backslash is not a quote that ends the string.
        from = at + 2;
    }
}

/// The names of members that are not in the schema.
#[derive(Default)]
struct UnknownNames<'a> {
    few: Vec<&'a str>,
    many: Option<HashSet<&'a str>>,
}

impl<'a> UnknownNames<'a> {
    /// Adds a name and returns whether it is new.
    fn insert(&mut self, name: &'a str) -> bool {
        if self.few.contains(&name) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(name);
            return true;
        }
        self.many.get_or_insert_default().insert(name)
    }
}
