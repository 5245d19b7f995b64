//! What does not fit a schema, before it is sent.
//!
//! Only what a person could have got wrong is looked at: names, types, bounds
//! and choices. The server checks again, and more.

use std::{collections::HashSet, mem};

use serde_json::{Map, Value};

use super::{problem::Problem, view::View};
use crate::signature::{Budget, Detail, Kind, Schema, node::Node, type_name};

/// How many parts of a schema are looked at for all arguments, and for one of
/// the readings that are tried before.
const MAX_PARTS: usize = 20_000;
const MAX_PARTS_OF_TRY: usize = 1_000;
/// How deep values within values are looked at, so that the stack is enough.
const DEEPEST: usize = 128;

/// What was found.
pub(super) struct Found {
    pub(super) problems: Vec<Problem>,
    /// Whether all was looked at. What was not may be wrong, and the server
    /// will say so.
    pub(super) is_complete: bool,
    budget: Budget,
}

impl Found {
    fn new(max_parts: usize) -> Self {
        Self {
            problems: Vec::new(),
            is_complete: true,
            budget: Budget::new(max_parts),
        }
    }

    /// What is wrong by one of several alternatives, apart from what was found
    /// before.
    fn apart(&mut self, look: impl FnOnce(&mut Self)) -> Vec<Problem> {
        let before = mem::take(&mut self.problems);
        look(self);
        mem::replace(&mut self.problems, before)
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a str,
    /// How many levels are still looked at.
    depth: usize,
    /// Members that other parts of the schema describe.
    beside: &'a [&'a str],
}

impl<'a> At<'a> {
    fn top(path: &'a str, beside: &'a [&'a str]) -> Self {
        Self {
            path,
            depth: DEEPEST,
            beside,
        }
    }

    /// The place of something within what stands here.
    fn within(self, path: &'a str) -> Self {
        Self {
            path,
            beside: &[],
            ..self
        }
    }
}

/// All that is wrong with arguments.
pub(super) fn check(arguments: &Map<String, Value>, schema: Schema<'_>) -> Found {
    let mut found = Found::new(MAX_PARTS);
    members(arguments, schema, At::top("", &[]), &mut found);
    found
}

/// All that is wrong with an object, as one alternative of a schema.
pub(super) fn view(object: &Map<String, Value>, view: &View<'_>, path: &str) -> Vec<Problem> {
    let mut found = Found::new(MAX_PARTS_OF_TRY);
    let known = names(&view.parts);
    for part in &view.parts {
        members(object, *part, At::top(path, &known), &mut found);
    }
    found.problems
}

/// How many members say that another alternative is meant.
pub(super) fn contradictions(object: &Map<String, Value>, view: &View<'_>) -> usize {
    let properties = view.parts.iter().flat_map(|part| part.properties());
    let wrong = properties.into_iter().filter(|property| {
        let fixed = property.schema.resolved().get("const");
        let found = object.get(property.name);
        matches!((fixed, found), (Some(fixed), Some(found)) if !same(fixed, found))
    });
    wrong.count()
}

fn names<'a>(parts: &[Schema<'a>]) -> Vec<&'a str> {
    let properties = parts.iter().flat_map(|part| part.properties());
    properties.map(|property| property.name).collect()
}

/// Whether a value fits.
pub(super) fn fits(value: &Value, schema: Schema<'_>) -> bool {
    let mut found = Found::new(MAX_PARTS_OF_TRY);
    look(value, schema, At::top("", &[]), &mut found);
    found.problems.is_empty()
}

/// Looks at a value.
fn look(value: &Value, schema: Schema<'_>, at: At<'_>, found: &mut Found) {
    let here = schema.resolved();
    let depth = at.depth.checked_sub(1);
    let Some(depth) = depth.filter(|_| found.budget.covers(here)) else {
        found.is_complete = false;
        return;
    };
    let at = At { depth, ..at };
    let path = at.path;
    let expected = || type_name(schema, Detail::SHORT);
    if let Some(choices) = here.choices() {
        if !choices.iter().any(|choice| same(choice, value)) {
            found.problems.push(not_a_choice(path, &choices, value));
        }
        return;
    }
    if let Some(wrong) = alternatives(value, here, at, found) {
        match wrong.is_empty() {
            true => found
                .problems
                .push(Problem::misfit(path, expected(), value)),
            false => found.problems.extend(wrong),
        }
        return;
    }
    let kinds = here.kinds();
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, *kind)) {
        found
            .problems
            .push(Problem::misfit(path, expected(), value));
        return;
    }
    of_type(value, here, at, found);
}

/// Looks at a value that is of the right type: its bounds, and what is within
/// it.
fn of_type(value: &Value, here: Schema<'_>, at: At<'_>, found: &mut Found) {
    let path = at.path;
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if !in_bounds(number, here) {
                found
                    .problems
                    .push(Problem::misfit(path, type_name(here, Detail::SHORT), value));
            }
        }
        Value::String(text) => {
            let length = text.chars().count();
            let wrong = counted(value, length, "Length", "characters", here, path);
            found.problems.extend(wrong);
        }
        Value::Array(items) => {
            let wrong = counted(value, items.len(), "Items", "items", here, path);
            found.problems.extend(wrong);
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = here.items() {
                    let path = format!("{path}[{index}]");
                    look(item, schema, at.within(&path), found);
                }
            }
        }
        Value::Object(object) => members(object, here, at, found),
        _ => {}
    }
}

/// What is wrong where no alternative fits: all that is wrong with the one
/// that is meant, or nothing in particular if that is not clear.
fn alternatives(
    value: &Value,
    schema: Schema<'_>,
    at: At<'_>,
    found: &mut Found,
) -> Option<Vec<Problem>> {
    let variants = schema.variants();
    let mut beside = at.beside.to_vec();
    beside.extend(names(&[schema]));
    let beside = At {
        beside: &beside,
        ..at
    };
    let mut tries = Vec::new();
    for variant in &variants {
        // What was not looked at all to its end may fit.
        let wrong = found.apart(|found| look(value, *variant, beside, found));
        if wrong.is_empty() {
            return None;
        }
        tries.push(wrong);
    }
    let object = value.as_object();
    let is_meant = |variant: &&Schema<'_>| {
        let parts = vec![variant.resolved()];
        let view = View { parts };
        let is_object = view.parts[0].kinds().contains(&Kind::Object);
        is_object && object.is_some_and(|object| contradictions(object, &view) == 0)
    };
    let mut meant = (0..variants.len()).filter(|at| is_meant(&&variants[*at]));
    match (meant.next(), meant.next()) {
        (Some(at), None) => Some(tries.swap_remove(at)),
        _ if variants.is_empty() => None,
        _ => Some(Vec::new()),
    }
}

fn members(object: &Map<String, Value>, schema: Schema<'_>, at: At<'_>, found: &mut Found) {
    let below = |name: &str| match at.path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let properties = schema.properties();
    let undescribed = schema.undescribed();
    if !found.budget.take(properties.len()) {
        found.is_complete = false;
        return;
    }
    if !schema.open() {
        let described = properties.iter().map(|property| property.name);
        let elsewhere = undescribed.iter().chain(at.beside).copied();
        let known: HashSet<&str> = described.chain(elsewhere).collect();
        for name in object.keys().filter(|name| !known.contains(name.as_str())) {
            let known = properties.iter().map(|property| property.name.to_owned());
            found.problems.push(Problem::Unknown {
                path: below(name),
                known: known.collect(),
            });
        }
    }
    for property in &properties {
        match object.get(property.name) {
            Some(value) => {
                let path = below(property.name);
                look(value, property.schema, at.within(&path), found);
            }
            None if property.is_needed() => found.problems.push(Problem::Missing {
                path: below(property.name),
                expected: type_name(property.schema, Detail::SHORT),
                about: property.schema.description(),
            }),
            None => {}
        }
    }
    for name in undescribed {
        if !object.contains_key(name) {
            found.problems.push(Problem::Missing {
                path: below(name),
                expected: "any".to_owned(),
                about: None,
            });
        }
    }
}

fn not_a_choice(path: &str, choices: &[&Node], value: &Value) -> Problem {
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    let texts = choices.iter().filter_map(|choice| choice.as_text());
    Problem::Misfit {
        path: path.to_owned(),
        expected: names.join(" | "),
        found: value.to_string(),
        choices: texts.map(str::to_owned).collect(),
    }
}

fn same(choice: &Node, value: &Value) -> bool {
    match (choice.as_f64(), value.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => choice.to_value() == *value,
    }
}

fn is_of(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Null => value.is_null(),
        Kind::Boolean => value.is_boolean(),
        // A whole number may be written with a point.
        Kind::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Kind::Number => value.is_number(),
        Kind::Array => value.is_array(),
        Kind::Object => value.is_object(),
        Kind::String => value.is_string(),
    }
}

fn in_bounds(number: f64, schema: Schema<'_>) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Node::as_f64);
    bound("minimum").is_none_or(|least| number >= least)
        && bound("maximum").is_none_or(|most| number <= most)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && bound("exclusiveMaximum").is_none_or(|most| number < most)
}

/// Checks `minLength` and the like.
fn counted(
    value: &Value,
    count: usize,
    keyword: &str,
    what: &str,
    schema: Schema<'_>,
    path: &str,
) -> Option<Problem> {
    let bound = |side: &str| {
        schema
            .get(&format!("{side}{keyword}"))
            .and_then(Node::as_f64)
    };
    let count = count as f64;
    let expected = match (bound("min"), bound("max")) {
        (Some(least), _) if count < least => format!("at least {least} {what}"),
        (_, Some(most)) if count > most => format!("at most {most} {what}"),
        _ => return None,
    };
    Some(Problem::misfit(path, expected, value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::signature::Document;

    #[track_caller]
    fn found(schema: &Value, arguments: &Value) -> Vec<String> {
        let document = Document::new(&schema.to_string());
        let arguments = arguments.as_object().expect("an object").clone();
        let found = check(&arguments, document.schema());
        assert!(found.is_complete);
        (found.problems)
            .iter()
            .map(|problem| problem.describe("book"))
            .collect()
    }

    #[test]
    fn what_is_wrong_is_named() {
        let schema = json!({
            "properties": {
                "to": {"type": "string", "minLength": 2, "description": "Where to"},
                "seats": {"type": "integer", "minimum": 1, "maximum": 9},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "at": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
                "cabin": {"enum": ["economy", "first"]},
                "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]}
            },
            "required": ["to", "hidden"]
        });
        let cases: [(Value, &[&str]); 9] = [
            (
                json!({"to": "Porto", "hidden": 1, "seats": 2.0, "either": null}),
                &[],
            ),
            (
                json!({}),
                &[
                    "`to` is missing: string (Where to)",
                    "`hidden` is missing: any",
                ],
            ),
            (
                json!({"to": "P", "hidden": 1}),
                &["`to`: at least 2 characters is expected, not \"P\""],
            ),
            (
                json!({"to": 5, "hidden": 1}),
                &["`to`: string is expected, not 5"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "seats": 12}),
                &["`seats`: 1..9 is expected, not 12"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "tags": ["a", 1]}),
                &["`tags[1]`: string is expected, not 1"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "at": {"y": 1}}),
                &["book has no argument `at.y`", "`at.x` is missing: number"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "cabin": "x"}),
                &["`cabin`: \"economy\" | \"first\" is expected, not \"x\""],
            ),
            (
                json!({"to": "ab", "hidden": 1, "either": "x"}),
                &["`either`: integer | null is expected, not \"x\""],
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(found(&schema, &arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn what_has_a_default_may_be_left_out() {
        let schema = json!({
            "properties": {
                "level": {"enum": ["info", "error"], "default": "info"},
                "all": {"type": ["boolean", "null"], "default": null},
                "mode": {"$ref": "#/$defs/Mode"},
                "file": {"type": "string"}
            },
            "required": ["level", "all", "mode", "file"],
            "$defs": {"Mode": {"type": "string", "default": "fast"}}
        });
        assert_eq!(found(&schema, &json!({"file": "a"})), [""; 0]);
        assert_eq!(found(&schema, &json!({})), ["`file` is missing: string"]);
    }

    #[test]
    fn of_alternatives_the_one_that_is_meant_is_explained() {
        let schema = json!({
            "properties": {
                "pet": {"anyOf": [
                    {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "dog"}, "age": {"type": "integer"}},
                        "required": ["kind", "age"]},
                    {"type": "null"}
                ]},
                "maybe": {"anyOf": [{"properties": {"x": {"type": "number"}}}, {"type": "null"}]},
                "shared": {"properties": {"id": {}}, "anyOf": [
                    {"properties": {"a": {}}, "required": ["a"]},
                    {"properties": {"b": {}}, "required": ["b"]}
                ]}
            }
        });
        let cases: [(Value, &[&str]); 6] = [
            (
                json!({"pet": {"kind": "dog", "age": 3}, "maybe": {"x": 1}}),
                &[],
            ),
            (
                json!({"pet": {"kind": "dog"}}),
                &["`pet.age` is missing: integer"],
            ),
            (
                json!({"pet": {"kind": "cow"}}),
                &[
                    "`pet`: { kind: \"cat\" } | { kind: \"dog\", age: integer } | null is expected, \
                   not {\"kind\":\"cow\"}",
                ],
            ),
            (
                json!({"maybe": {"x": "1"}}),
                &["`maybe.x`: number is expected, not \"1\""],
            ),
            (json!({"shared": {"id": 1, "b": 2}}), &[]),
            (json!({"pet": null}), &[]),
        ];
        for (arguments, expected) in cases {
            assert_eq!(found(&schema, &arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn schemas_that_take_more_do() {
        let more = json!({"more": 1});
        for open in [
            json!({}),
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}),
            json!({"properties": {"a": {}}, "patternProperties": {"^m": {}}}),
        ] {
            assert!(found(&open, &more).is_empty(), "{open}");
        }
        let closed = json!({"properties": {}, "additionalProperties": false});
        assert_eq!(
            found(&closed, &more),
            ["book takes no arguments, so no `more`"]
        );
    }

    #[test]
    fn alternatives_are_looked_at_however_deep_they_are() {
        // A list of lists of lists of what is one thing or another.
        let mut schema = json!({"anyOf": [
            {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            {"type": "null"}
        ]});
        let (mut right, mut wrong) = (json!({"x": 1}), json!({"x": "one"}));
        for _ in 0..8 {
            schema = json!({"anyOf": [{"type": "array", "items": schema}, {"type": "null"}]});
            (right, wrong) = (json!([right]), json!([wrong]));
        }
        let schema = json!({"properties": {"deep": schema}});
        assert_eq!(found(&schema, &json!({"deep": right})), [""; 0]);
        assert_eq!(found(&schema, &json!({"deep": wrong})).len(), 1);
    }

    #[test]
    fn what_leads_back_into_itself_is_not_looked_at_for_ever() {
        let variants: Vec<_> = (0..8).map(|_| json!({"$ref": "#/$defs/A"})).collect();
        let schema = json!({
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"type": "integer"}},
            "$defs": {"A": {"anyOf": variants}}
        });
        let document = Document::new(&schema.to_string());
        let arguments = json!({"a": 1, "b": 1}).as_object().expect("it is").clone();
        let found = check(&arguments, document.schema());
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        assert!(!found.is_complete);
    }
}
