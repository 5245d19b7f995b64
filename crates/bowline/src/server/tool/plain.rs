//! Schemas that are plain enough to be checked on the text itself.
//!
//! Most schemas say which members there are and of which type each of them is.
//! Whether arguments fit such a schema can be seen in one pass over their text,
//! without making values of it first. Only what is certain counts: what is not
//! plain, and what does not fit for sure, is left to the validator, which also
//! has the words for it.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::proto::jsonrpc::closing_quote;

/// A schema that is checked on the text. It lets nothing through that the
/// schema does not, and it may refuse what the schema lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plain {
    /// Which types there may be, a bit for each.
    types: u8,
    least: Option<i64>,
    greatest: Option<i64>,
    /// The only texts that there may be, where they are counted, in order.
    texts: Option<Vec<Box<str>>>,
    items: Option<Box<Plain>>,
    members: Vec<Member>,
    /// The members that must be there, a bit for each.
    required: u64,
    /// Whether there may be no other members.
    closed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: Box<str>,
    plain: Plain,
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
/// Numbers that are no integers as they are written.
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;
const ANY: u8 = 127;

/// How deep schemas may be nested; those that hold themselves always are.
const DEEPEST: usize = 16;

impl Plain {
    /// Reads a schema. There is none where it is not plain.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let shared = schema.get("$defs").and_then(Value::as_object);
        Self::read(schema, shared, 0)
    }

    /// Whether the text, which must be JSON, surely fits.
    pub(super) fn fits(&self, json: &str) -> bool {
        let mut text = Text { json, at: 0 };
        text.value(self).is_some()
    }

    fn read(schema: &Value, shared: Option<&Map<String, Value>>, depth: usize) -> Option<Self> {
        let mut plain = Self {
            types: ANY,
            ..Self::default()
        };
        let members = match schema {
            Value::Bool(true) => return Some(plain),
            Value::Object(members) if depth < DEEPEST => members,
            _ => return None,
        };
        let below = |schema: &Value| Self::read(schema, shared, depth + 1);
        let mut refers = None;
        for (key, value) in members {
            match key.as_str() {
                "title" | "description" | "default" | "examples" | "deprecated" | "$comment" => {}
                "$schema" | "$defs" if depth == 0 => {}
                "type" => plain.types = types(value)?,
                "minimum" => plain.least = Some(value.as_i64()?),
                "maximum" => plain.greatest = Some(value.as_i64()?),
                "enum" => {
                    let mut texts: Vec<_> =
                        value.as_array()?.iter().map(text).collect::<Option<_>>()?;
                    texts.sort_unstable();
                    plain.texts = Some(texts);
                }
                "items" => plain.items = Some(Box::new(below(value)?)),
                "properties" => {
                    let members = value.as_object()?.iter();
                    plain.members = members
                        .map(|(name, it)| Member::read(name, below(it)?))
                        .collect::<Option<_>>()?;
                }
                "required" => {}
                "additionalProperties" => plain.closed = !value.as_bool()?,
                "$ref" => {
                    let name = value.as_str()?.strip_prefix("#/$defs/")?;
                    refers = Some(below(shared?.get(name)?)?);
                }
                "anyOf" => refers = Some(or_null(value.as_array()?, below)?),
                mark if mark.starts_with("x-") => {}
                _ => return None,
            }
        }
        if let Some(refers) = refers {
            // What stands beside it would have to hold, too.
            return (plain.says_nothing() && !members.contains_key("required")).then_some(refers);
        }
        plain.required = plain.required(members.get("required"))?;
        plain.is_sound().then_some(plain)
    }

    /// Whether the schema allows everything.
    fn says_nothing(&self) -> bool {
        let nothing = Self {
            types: ANY,
            ..Self::default()
        };
        *self == nothing
    }

    /// A bit for each member that must be there.
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

    /// Whether it can be checked: there is a bit for every member, and texts
    /// that are counted are the only thing that there may be.
    fn is_sound(&self) -> bool {
        let counted = self.texts.is_none() || self.types & !(STRING | NULL) == 0;
        self.members.len() <= u64::BITS as usize && counted
    }

    fn has_bounds(&self) -> bool {
        self.least.is_some() || self.greatest.is_some()
    }

    fn is_within(&self, number: i64) -> bool {
        self.least.is_none_or(|least| least <= number)
            && self.greatest.is_none_or(|greatest| number <= greatest)
    }
}

impl Member {
    /// A member whose name is written without escapes by everybody.
    fn read(name: &str, plain: Plain) -> Option<Self> {
        let common = name
            .bytes()
            .all(|byte| !matches!(byte, b'"' | b'\\' | 0..b' '));
        common.then(|| Self {
            name: name.into(),
            plain,
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

/// A text that is written without escapes by everybody.
fn text(value: &Value) -> Option<Box<str>> {
    let text = value.as_str()?;
    let common = text
        .bytes()
        .all(|byte| !matches!(byte, b'"' | b'\\' | 0..b' '));
    common.then(|| text.into())
}

/// What may be left out as `null`: two schemas, of which one is that of `null`.
fn or_null(schemas: &[Value], below: impl Fn(&Value) -> Option<Plain>) -> Option<Plain> {
    let [one, other] = schemas else {
        return None;
    };
    let null = Plain {
        types: NULL,
        ..Plain::default()
    };
    let mut plain = below(one)?;
    if below(other)? != null || plain.texts.is_some() {
        return None;
    }
    plain.types |= NULL;
    Some(plain)
}

/// The text of a JSON value. Each method passes over something at the front,
/// or says that it is not for sure what it should be.
struct Text<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    fn value(&mut self, plain: &Plain) -> Option<()> {
        let allowed = |kind: u8| (plain.types & kind != 0).then_some(());
        match self.front()? {
            b'"' => {
                allowed(STRING)?;
                let text = self.string()?;
                let Some(texts) = &plain.texts else {
                    return Some(());
                };
                let found = texts.binary_search_by(|it| it.as_bytes().cmp(text));
                found.is_ok().then_some(())
            }
            b'{' => allowed(OBJECT).and_then(|()| self.object(plain)),
            b'[' => allowed(ARRAY).and_then(|()| self.array(plain)),
            b't' => allowed(BOOLEAN).and_then(|()| self.word(b"true")),
            b'f' => allowed(BOOLEAN).and_then(|()| self.word(b"false")),
            b'n' => {
                // It is none of the texts that are counted.
                allowed(NULL).filter(|()| plain.texts.is_none())?;
                self.word(b"null")
            }
            b'-' | b'0'..=b'9' => self.number(plain),
            _ => None,
        }
    }

    /// The first byte that is no blank.
    fn front(&mut self) -> Option<u8> {
        loop {
            match *self.json.as_bytes().get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    fn byte(&mut self, byte: u8) -> bool {
        let there = self.front() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn rest(&self) -> &'a [u8] {
        &self.json.as_bytes()[self.at..]
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest().starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    /// A string, as it is written between its quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at + 1;
        let end = closing_quote(self.json, start)?;
        self.at = end + 1;
        Some(&self.json.as_bytes()[start..end])
    }

    fn number(&mut self, plain: &Plain) -> Option<()> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = &rest[..length.unwrap_or(rest.len())];
        self.at += number.len();
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        let whole = digits.iter().all(u8::is_ascii_digit);
        // Some fractions are integers all the same; that is not for here.
        let kind = if whole { INTEGER } else { FRACTION };
        (plain.types & kind != 0).then_some(())?;
        if plain.has_bounds() {
            let number: i64 = str::from_utf8(number).ok()?.parse().ok()?;
            return plain.is_within(number).then_some(());
        }
        Some(())
    }

    fn array(&mut self, plain: &Plain) -> Option<()> {
        let anything = Plain {
            types: ANY,
            ..Plain::default()
        };
        let items = plain.items.as_deref().unwrap_or(&anything);
        self.at += 1;
        if self.byte(b']') {
            return Some(());
        }
        loop {
            self.value(items)?;
            if self.byte(b']') {
                return Some(());
            }
            self.byte(b',').then_some(())?;
        }
    }

    fn object(&mut self, plain: &Plain) -> Option<()> {
        let anything = Plain {
            types: ANY,
            ..Plain::default()
        };
        let mut seen = 0;
        let mut others = Names::default();
        self.at += 1;
        if !self.byte(b'}') {
            loop {
                (self.front()? == b'"').then_some(())?;
                let name = self.string()?;
                self.byte(b':').then_some(())?;
                match plain
                    .members
                    .iter()
                    .position(|it| it.name.as_bytes() == name)
                {
                    // Members that are there twice are not for here.
                    Some(at) if seen & (1 << at) != 0 => return None,
                    Some(at) => {
                        seen |= 1 << at;
                        self.value(&plain.members[at].plain)?;
                    }
                    // A name with an escape may be one that is known.
                    None if plain.closed || name.contains(&b'\\') => return None,
                    None if !others.insert(name) => return None,
                    None => self.value(&anything)?,
                }
                if self.byte(b'}') {
                    break;
                }
                self.byte(b',').then_some(())?;
            }
        }
        (plain.required & !seen == 0).then_some(())
    }
}

/// Names of members that no schema knows.
#[derive(Default)]
struct Names<'a> {
    few: Vec<&'a [u8]>,
    many: HashSet<&'a [u8]>,
}

impl<'a> Names<'a> {
    /// So many are compared with each other; that is faster than to hash them.
    const FEW: usize = 8;

    /// Whether it is new.
    fn insert(&mut self, name: &'a [u8]) -> bool {
        if self.few.contains(&name) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(name);
            return true;
        }
        self.many.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Trip",
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where to"},
                "days": {"type": "integer", "minimum": 0, "maximum": 30},
                "price": {"type": ["number", "null"]},
                "class": {"$ref": "#/$defs/Class"},
                "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
                "first": {"anyOf": [{"$ref": "#/$defs/Stop"}, {"type": "null"}]},
                "notes": true,
            },
            "required": ["city", "days"],
            "$defs": {
                "Class": {"type": "string", "enum": ["economy", "first"]},
                "Stop": {
                    "type": "object",
                    "properties": {"at": {"type": "boolean"}},
                    "additionalProperties": false,
                },
            },
        })
    }

    #[test]
    fn what_fits_for_sure_is_seen() {
        let plain = Plain::of(&schema()).expect("the schema is plain");
        for text in [
            r#"{"city":"Lisbon","days":3}"#,
            " { \"days\" : 30 , \"city\" : \"a \\\" \\\\\" } ",
            r#"{"city":"","days":0,"price":1.5e3,"class":"first","else":{"a":[1,{}]}}"#,
            r#"{"city":"ü","days":1,"price":null,"stops":[{},{"at":true}],"first":null}"#,
            r#"{"city":"x","days":1,"first":{"at":false},"notes":[[],"\u0041",-1]}"#,
        ] {
            assert!(plain.fits(text), "{text}");
        }
    }

    #[test]
    fn what_fits_is_valid() {
        let validator = jsonschema::draft202012::new(&schema()).expect("it is a schema");
        let plain = Plain::of(&schema()).expect("the schema is plain");
        let values = [
            "null",
            "true",
            "0",
            "-1",
            "30",
            "31",
            "1.5",
            "1.0",
            "1e2",
            "\"economy\"",
            "\"second\"",
            "\"\\u0041\"",
            "[]",
            "[1]",
            "[{}]",
            "[{\"at\":1}]",
            "[{\"to\":1}]",
            "{}",
            "{\"at\":true}",
            "{\"at\":null}",
            "99999999999999999999",
        ];
        let names = [
            "city",
            "days",
            "price",
            "class",
            "stops",
            "first",
            "notes",
            "c\\u0069ty",
        ];
        let mut fitting = 0;
        for name in names {
            for value in values {
                for rest in [r#""city":"x","days":1"#, r#""city":"x""#, r#""days":1"#] {
                    let text = format!("{{{rest},\"{name}\":{value}}}");
                    if plain.fits(&text) {
                        let value: Value = serde_json::from_str(&text).expect("it is JSON");
                        assert!(validator.is_valid(&value), "{text}");
                        fitting += 1;
                    }
                }
            }
        }
        // Counted by hand, so that none is refused without need.
        assert_eq!(fitting, 41);
    }

    #[test]
    fn what_is_not_known_is_not_plain() {
        for schema in [
            json!(false),
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string", "minLength": 1}),
            json!({"type": "array", "items": {"type": "string", "pattern": "a"}}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "required": ["unknown"]}),
            json!({"enum": [1, 2]}),
            json!({"enum": ["a"]}),
            json!({"type": "number", "minimum": 0.5}),
            json!({"$ref": "#/$defs/A", "type": "string", "$defs": {"A": true}}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ] {
            assert_eq!(Plain::of(&schema), None, "{schema}");
        }
    }
}
