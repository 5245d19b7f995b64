//! Checking arguments against a schema before they are sent.
//!
//! First by the types that the schema describes, which it has even if it is not
//! valid; then by all of it. The server checks again.

use bowline_schema::{ValidationError, ValidationErrorKind, Validator, shape::Shape};
use serde_json::{Map, Value};

use super::{place::Place, problem::ArgumentProblem};
use crate::signature::on_one_line;

/// The problems found.
pub(super) struct CheckReport {
    pub(super) problems: Vec<ArgumentProblem>,
    /// Whether everything was checked. The server reports problems in the rest.
    pub(super) is_complete: bool,
}

/// Returns the problems of the arguments.
pub(super) fn check(arguments: &Map<String, Value>, shape: &Shape) -> CheckReport {
    let arguments = Value::Object(arguments.clone());
    let mut report = check_by(&shape.to_schema(), &arguments, shape);
    if report.is_complete && report.problems.is_empty() {
        report = check_by(shape.document(), &arguments, shape);
    }
    // A name that is not known often explains one that is missing.
    let is_known = |problem: &ArgumentProblem| !matches!(problem, ArgumentProblem::Unknown { .. });
    report.problems.sort_by_key(is_known);
    report
}

fn check_by(schema: &Value, arguments: &Value, shape: &Shape) -> CheckReport {
    let validator = Validator::options()
        .reject_undeclared_members(true)
        .accept_missing_defaults(true)
        .compile(schema);
    // What a schema that is not valid means is up to the server.
    let errors = validator.map(|validator| validator.errors(arguments));
    let errors = errors.unwrap_or_default();
    let is_complete = !errors
        .iter()
        .any(|error| error.kind == ValidationErrorKind::TooComplex);
    let problems = errors
        .iter()
        .filter_map(|error| problem(error, arguments, shape));
    CheckReport {
        problems: problems.collect(),
        is_complete,
    }
}

/// Returns the problem that a violation is.
fn problem(error: &ValidationError, arguments: &Value, shape: &Shape) -> Option<ArgumentProblem> {
    let place = Place::new(shape, arguments).at(&error.pointer);
    Some(match &error.kind {
        // That alternatives overlap is a mistake of the schema.
        ValidationErrorKind::SeveralAlternatives | ValidationErrorKind::TooComplex => return None,
        ValidationErrorKind::MissingMember { name } => missing(&place.member(name), error),
        ValidationErrorKind::UnknownMember { name, known } => ArgumentProblem::Unknown {
            path: place.member(name).path,
            known: known.clone(),
        },
        ValidationErrorKind::InvalidMemberName { name } => ArgumentProblem::invalid(
            &place.path,
            format!("names with {}", error.expected),
            &Value::from(name.as_str()),
        ),
        ValidationErrorKind::NotAChoice { choices } => {
            let strings = choices.iter().filter_map(Value::as_str);
            invalid(&place, error).with_choices(strings.map(str::to_owned))
        }
        _ => invalid(&place, error),
    })
}

fn missing(place: &Place<'_>, error: &ValidationError) -> ArgumentProblem {
    ArgumentProblem::Missing {
        expected: place.expected().unwrap_or_else(|| error.expected.clone()),
        description: place.description().map(on_one_line),
        path: place.path.clone(),
    }
}

fn invalid(place: &Place<'_>, error: &ValidationError) -> ArgumentProblem {
    // If the type does not exclude the value, something else is wrong with it.
    let expected = match error.kind {
        ValidationErrorKind::WrongType { .. }
        | ValidationErrorKind::NotAChoice { .. }
        | ValidationErrorKind::NoAlternative => place.expected().filter(|_| !place.fits()),
        ValidationErrorKind::TooSmall { .. } | ValidationErrorKind::TooLarge { .. } => {
            place.expected().filter(|range| range.contains(".."))
        }
        _ => None,
    };
    let expected = expected.unwrap_or_else(|| error.expected.clone());
    ArgumentProblem::invalid(&place.path, expected, place.value)
}

#[cfg(test)]
mod tests {
    use bowline_schema::shape::Shape;
    use serde_json::{Value, json};

    use super::check;

    #[track_caller]
    fn problems_in(schema: &Value, arguments: &Value) -> Vec<String> {
        let shape = Shape::new(schema.clone());
        let found = check(arguments.as_object().expect("an object"), &shape);
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
                &["`pet.kind`: expected \"cat\" | \"dog\", found \"cow\""],
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
    fn a_schema_that_is_not_valid_is_checked_as_far_as_its_types_go() {
        let schema = json!({
            "properties": {
                "mail": {"type": "string", "pattern": "^(?!a)"},
                "far": {"$ref": "https://example.com/far.json"},
                "seats": {"type": "integer", "minimum": 0, "exclusiveMinimum": true},
                "circle": {"$ref": "#/$defs/A"},
                "at": {"properties": {"x": {"type": "number"}}}
            },
            "required": ["mail"],
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}
        });
        let right = json!({"mail": "b", "far": 1, "seats": 1, "circle": {}, "at": {"x": 1}});
        assert_eq!(problems_in(&schema, &right), [""; 0]);
        assert_eq!(
            problems_in(&schema, &json!({"seats": 0, "at": 7, "seat": 1})),
            [
                "book has no argument `seat`",
                "`mail` is missing: string",
                "`seats`: expected 1.., found 0",
                "`at`: expected { x?: number }, found 7",
            ]
        );
    }

    #[test]
    fn what_types_do_not_say_is_checked_too() {
        let schema = json!({
            "properties": {
                "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "odd": {"type": "integer", "not": {"multipleOf": 2}},
                "by_id": {"type": "object", "propertyNames": {"minLength": 2}},
                "big": {"type": "integer", "maximum": 1_000_000_000_000_u64}
            },
            "anyOf": [{"required": ["code"]}, {"required": ["odd"]}]
        });
        let cases: [(Value, &[&str]); 5] = [
            (json!({"code": "ABC", "odd": 1}), &[]),
            (
                json!({"code": "abc"}),
                &["`code`: expected a match of ^[A-Z]{3}$, found \"abc\""],
            ),
            (
                json!({"odd": 2}),
                &["`odd`: expected anything else, found 2"],
            ),
            (
                json!({"odd": 1, "by_id": {"a": 1}}),
                &["`by_id`: expected names with at least 2 characters, found \"a\""],
            ),
            (
                json!({"odd": 1, "big": 2_000_000_000_000_u64}),
                &["`big`: expected at most 1000000000000, found 2000000000000"],
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(problems_in(&schema, &arguments), expected, "{arguments}");
        }
        let neither = problems_in(&schema, &json!({"by_id": {}}));
        assert_eq!(
            neither,
            [
                "the arguments: expected object with `code` or object with `odd`, found {\"by_id\":{}}"
            ]
        );
    }

    #[test]
    fn a_problem_is_reported_however_long_the_way_to_it_is() {
        let name = "n".repeat(300);
        let schema = json!({"properties": {&*name: {"properties": {"x": {"type": "integer"}}}}});
        let found = problems_in(&schema, &json!({&*name: {"x": "one"}}));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("the arguments: expected { nnn"),
            "{found:?}"
        );
    }

    #[test]
    fn alternatives_within_alternatives_are_not_looked_at_for_ever() {
        let variant = |kind: usize| json!({"properties": {"a": {"$ref": "#/$defs/A"}, "kind": {"const": kind}}});
        let variants: Vec<_> = (0..40).map(variant).collect();
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": variants}}});
        let shape = Shape::new(schema);
        let value = (0..12).fold(json!({"kind": 99}), |inner, _| json!({"a": inner}));
        let found = check(value.as_object().expect("an object"), &shape);
        assert!(!found.is_complete, "{:?}", found.problems);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}
