//! Checking arguments against a schema before they are sent.
//!
//! Only likely mistakes are checked: names, types, bounds and choices. The
//! server checks again, and more thoroughly.

use std::{collections::HashSet, mem};

use serde_json::{Map, Value};

use super::problem::ArgumentProblem;
use crate::signature::{Budget, Detail, Kind, Schema, node::Node, type_name};

/// Maximum number of subschemas visited for all arguments.
const MAX_SUBSCHEMAS: usize = 20_000;
/// Maximum depth of nested values, so the stack suffices.
const MAX_DEPTH: usize = 128;

/// The problems found.
pub(super) struct CheckReport {
    pub(super) problems: Vec<ArgumentProblem>,
    /// Whether everything was checked. The server reports problems in the rest.
    pub(super) is_complete: bool,
    budget: Budget,
}

impl CheckReport {
    fn new(max_parts: usize) -> Self {
        Self {
            problems: Vec::new(),
            is_complete: true,
            budget: Budget::new(max_parts),
        }
    }

    /// Collects the problems of one alternative, apart from those found before.
    fn collect_separately(&mut self, check_fn: impl FnOnce(&mut Self)) -> Vec<ArgumentProblem> {
        let outer_problems = mem::take(&mut self.problems);
        check_fn(self);
        mem::replace(&mut self.problems, outer_problems)
    }
}

/// The location of a value.
#[derive(Clone, Copy)]
struct Location<'a> {
    path: &'a str,
    /// Remaining levels.
    depth: usize,
    /// Members declared by other parts of the schema.
    sibling_names: &'a [&'a str],
}

impl<'a> Location<'a> {
    fn root(path: &'a str, sibling_names: &'a [&'a str]) -> Self {
        Self {
            path,
            depth: MAX_DEPTH,
            sibling_names,
        }
    }

    /// Returns the location of a child.
    fn child(self, path: &'a str) -> Self {
        Self {
            path,
            sibling_names: &[],
            ..self
        }
    }
}

/// Returns all problems of the arguments.
pub(super) fn check(arguments: &Map<String, Value>, schema: Schema<'_>) -> CheckReport {
    let mut found = CheckReport::new(MAX_SUBSCHEMAS);
    check_members(arguments, schema, Location::root("", &[]), &mut found);
    found
}

/// Returns how many members contradict an alternative.
fn contradictions(object: &Map<String, Value>, alternative: Schema<'_>) -> usize {
    let properties = alternative.properties().into_iter();
    let violations = properties.filter(|property| {
        let fixed = property.schema.resolved().get("const");
        let found = object.get(property.name);
        matches!((fixed, found), (Some(fixed), Some(found)) if !json_equal(fixed, found))
    });
    violations.count()
}

fn property_names<'a>(parts: &[Schema<'a>]) -> Vec<&'a str> {
    let properties = parts.iter().flat_map(|part| part.properties());
    properties.map(|property| property.name).collect()
}

/// Checks a value.
fn check_value(value: &Value, schema: Schema<'_>, location: Location<'_>, found: &mut CheckReport) {
    let resolved = schema.resolved();
    let depth = location.depth.checked_sub(1);
    let Some(depth) = depth.filter(|_| found.budget.spend_on(resolved)) else {
        found.is_complete = false;
        return;
    };
    let location = Location { depth, ..location };
    let path = location.path;
    let expected = || type_name(schema, Detail::SHORT);
    if let Some(choices) = resolved.choices() {
        if !choices.iter().any(|choice| json_equal(choice, value)) {
            found.problems.push(invalid_choice(path, &choices, value));
        }
        return;
    }
    if let Some(violations) = check_alternatives(value, resolved, location, found) {
        match violations.is_empty() {
            true => found
                .problems
                .push(ArgumentProblem::invalid(path, expected(), value)),
            false => found.problems.extend(violations),
        }
        return;
    }
    let kinds = resolved.kinds();
    if !kinds.is_empty() && !kinds.iter().any(|kind| has_kind(value, *kind)) {
        found
            .problems
            .push(ArgumentProblem::invalid(path, expected(), value));
        return;
    }
    check_by_type(value, resolved, location, found);
}

/// Checks a value of the right type: its bounds and its children.
fn check_by_type(
    value: &Value,
    resolved: Schema<'_>,
    location: Location<'_>,
    found: &mut CheckReport,
) {
    let path = location.path;
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if !in_bounds(number, resolved) {
                found.problems.push(ArgumentProblem::invalid(
                    path,
                    type_name(resolved, Detail::SHORT),
                    value,
                ));
            }
        }
        Value::String(text) => {
            let length = text.chars().count();
            let violations = check_count(value, length, "Length", "characters", resolved, path);
            found.problems.extend(violations);
        }
        Value::Array(items) => {
            let violations = check_count(value, items.len(), "Items", "items", resolved, path);
            found.problems.extend(violations);
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = resolved.items() {
                    let path = format!("{path}[{index}]");
                    check_value(item, schema, location.child(&path), found);
                }
            }
        }
        Value::Object(object) => check_members(object, resolved, location, found),
        _ => {}
    }
}

/// Checks alternatives if none matches: reports all problems of the one that is
/// meant, or a general problem if that is unclear.
fn check_alternatives(
    value: &Value,
    schema: Schema<'_>,
    location: Location<'_>,
    found: &mut CheckReport,
) -> Option<Vec<ArgumentProblem>> {
    let variants = schema.variants();
    let mut siblings = location.sibling_names.to_vec();
    siblings.extend(property_names(&[schema]));
    let siblings = Location {
        sibling_names: &siblings,
        ..location
    };
    let mut attempts = Vec::new();
    for variant in &variants {
        // An incomplete check may hide a match.
        let violations =
            found.collect_separately(|found| check_value(value, *variant, siblings, found));
        if violations.is_empty() {
            return None;
        }
        attempts.push(violations);
    }
    let object = value.as_object();
    let is_candidate = |variant: &&Schema<'_>| {
        let alternative = variant.resolved();
        let is_object = alternative.kinds().contains(&Kind::Object);
        is_object && object.is_some_and(|object| contradictions(object, alternative) == 0)
    };
    let mut candidates = (0..variants.len()).filter(|location| is_candidate(&&variants[*location]));
    match (candidates.next(), candidates.next()) {
        (Some(location), None) => Some(attempts.swap_remove(location)),
        _ if variants.is_empty() => None,
        _ => Some(Vec::new()),
    }
}

fn check_members(
    object: &Map<String, Value>,
    schema: Schema<'_>,
    location: Location<'_>,
    found: &mut CheckReport,
) {
    let member_path = |name: &str| match location.path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let properties = schema.properties();
    let undeclared = schema.undeclared_required();
    if !found.budget.spend(properties.len()) {
        found.is_complete = false;
        return;
    }
    if !schema.allows_additional() {
        let declared = properties.iter().map(|property| property.name);
        let others = undeclared.iter().chain(location.sibling_names).copied();
        let known: HashSet<&str> = declared.chain(others).collect();
        for name in object.keys().filter(|name| !known.contains(name.as_str())) {
            let known = properties.iter().map(|property| property.name.to_owned());
            found.problems.push(ArgumentProblem::Unknown {
                path: member_path(name),
                known: known.collect(),
            });
        }
    }
    for property in &properties {
        match object.get(property.name) {
            Some(value) => {
                let path = member_path(property.name);
                check_value(value, property.schema, location.child(&path), found);
            }
            None if property.is_required() => found.problems.push(ArgumentProblem::Missing {
                path: member_path(property.name),
                expected: type_name(property.schema, Detail::SHORT),
                description: property.schema.description(),
            }),
            None => {}
        }
    }
    for name in undeclared {
        if !object.contains_key(name) {
            found.problems.push(ArgumentProblem::Missing {
                path: member_path(name),
                expected: "any".to_owned(),
                description: None,
            });
        }
    }
}

fn invalid_choice(path: &str, choices: &[&Node], value: &Value) -> ArgumentProblem {
    let names: Vec<_> = choices.iter().map(ToString::to_string).collect();
    let strings = choices.iter().filter_map(|choice| choice.as_str());
    ArgumentProblem::Invalid {
        path: path.to_owned(),
        expected: names.join(" | "),
        found: value.to_string(),
        choices: strings.map(str::to_owned).collect(),
    }
}

fn json_equal(choice: &Node, value: &Value) -> bool {
    match (choice.as_f64(), value.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => choice.to_value() == *value,
    }
}

fn has_kind(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Null => value.is_null(),
        Kind::Boolean => value.is_boolean(),
        // An integer may be written with a decimal point.
        Kind::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Kind::Number => value.is_number(),
        Kind::Array => value.is_array(),
        Kind::Object => value.is_object(),
        Kind::String => value.is_string(),
    }
}

fn in_bounds(number: f64, schema: Schema<'_>) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Node::as_f64);
    bound("minimum").is_none_or(|min| number >= min)
        && bound("maximum").is_none_or(|max| number <= max)
        && bound("exclusiveMinimum").is_none_or(|min| number > min)
        && bound("exclusiveMaximum").is_none_or(|max| number < max)
}

/// Checks `minLength` and similar keywords.
fn check_count(
    value: &Value,
    count: usize,
    keyword: &str,
    unit: &str,
    schema: Schema<'_>,
    path: &str,
) -> Option<ArgumentProblem> {
    let bound = |prefix: &str| {
        schema
            .get(&format!("{prefix}{keyword}"))
            .and_then(Node::as_f64)
    };
    let count = count as f64;
    let expected = match (bound("min"), bound("max")) {
        (Some(min), _) if count < min => format!("at least {min} {unit}"),
        (_, Some(max)) if count > max => format!("at most {max} {unit}"),
        _ => return None,
    };
    Some(ArgumentProblem::invalid(path, expected, value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;
    use crate::signature::Document;

    #[track_caller]
    fn problems_in(schema: &Value, arguments: &Value) -> Vec<String> {
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
                &["`to`: expected at least 2 characters, found \"P\""],
            ),
            (
                json!({"to": 5, "hidden": 1}),
                &["`to`: expected string, found 5"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "seats": 12}),
                &["`seats`: expected 1..9, found 12"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "tags": ["a", 1]}),
                &["`tags[1]`: expected string, found 1"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "at": {"y": 1}}),
                &["book has no argument `at.y`", "`at.x` is missing: number"],
            ),
            (
                json!({"to": "ab", "hidden": 1, "cabin": "x"}),
                &["`cabin`: expected \"economy\" | \"first\", found \"x\""],
            ),
            (
                json!({"to": "ab", "hidden": 1, "either": "x"}),
                &["`either`: expected integer | null, found \"x\""],
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(problems_in(&schema, &arguments), expected, "{arguments}");
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
        assert_eq!(problems_in(&schema, &json!({"file": "a"})), [""; 0]);
        assert_eq!(
            problems_in(&schema, &json!({})),
            ["`file` is missing: string"]
        );
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
                    "`pet`: expected { kind: \"cat\" } | { kind: \"dog\", age: integer } | null, found {\"kind\":\"cow\"}",
                ],
            ),
            (
                json!({"maybe": {"x": "1"}}),
                &["`maybe.x`: expected number, found \"1\""],
            ),
            (json!({"shared": {"id": 1, "b": 2}}), &[]),
            (json!({"pet": null}), &[]),
        ];
        for (arguments, expected) in cases {
            assert_eq!(problems_in(&schema, &arguments), expected, "{arguments}");
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
            assert!(problems_in(&open, &more).is_empty(), "{open}");
        }
        let closed = json!({"properties": {}, "additionalProperties": false});
        assert_eq!(
            problems_in(&closed, &more),
            ["book has no argument `more`: it takes no arguments"]
        );
    }

    #[test]
    fn alternatives_are_looked_at_however_deep_they_are() {
        // A list of lists of lists of alternatives.
        let mut schema = json!({"anyOf": [
            {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            {"type": "null"}
        ]});
        let (mut right, mut violations) = (json!({"x": 1}), json!({"x": "one"}));
        for _ in 0..8 {
            schema = json!({"anyOf": [{"type": "array", "items": schema}, {"type": "null"}]});
            (right, violations) = (json!([right]), json!([violations]));
        }
        let schema = json!({"properties": {"deep": schema}});
        assert_eq!(problems_in(&schema, &json!({"deep": right})), [""; 0]);
        assert_eq!(problems_in(&schema, &json!({"deep": violations})).len(), 1);
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
