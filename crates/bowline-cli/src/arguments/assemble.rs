//! Assembling arguments: dotted names build a tree, and the schema gives the
//! types of its leaves.
//!
//! An object, such as `'{…}'` or `@file.json`, is the base for named values.
//! Every named value counts: a second value where only one fits is a problem.

use std::{collections::HashSet, ptr};

use bowline_schema::shape::{Shape, Type};
use serde_json::{Map, Value};

use super::{
    alternatives::{accepts_members, declared_types},
    build::{ValueTree, build_object},
    problem::ArgumentProblem,
    word::{ArgumentValue, ArgumentWord},
};
use crate::signature::{Parameter, parameters};

/// Assembles the arguments, and collects the problems.
pub(super) fn assemble(
    words: Vec<ArgumentWord>,
    shape: &Shape,
) -> (Map<String, Value>, Vec<ArgumentProblem>) {
    let mut assembly = Assembly {
        shape,
        positional: parameters(shape),
        positional_count: 0,
        has_named: false,
        objects: Map::new(),
        named_values: ValueTree::default(),
        problems: Vec::new(),
    };
    for word in words {
        assembly.add(word);
    }
    let (arguments, found) = build_object(&assembly.named_values, &assembly.objects, shape);
    assembly.problems.extend(found);
    (arguments, assembly.problems)
}

struct Assembly<'a> {
    shape: &'a Shape,
    /// The order in which positional values are assigned.
    positional: Vec<Parameter<'a>>,
    /// The number of positional values.
    positional_count: usize,
    /// Whether there is a named value.
    has_named: bool,
    /// Members of whole objects: later ones win.
    objects: Map<String, Value>,
    /// Named values.
    named_values: ValueTree,
    problems: Vec<ArgumentProblem>,
}

impl Assembly<'_> {
    fn add(&mut self, word: ArgumentWord) {
        match word {
            ArgumentWord::Object(members) => self.add_object(members),
            ArgumentWord::Json { name, value } => self.add_named(&name, ArgumentValue::Json(value)),
            ArgumentWord::Text { name, text } => self.add_named(&name, ArgumentValue::Text(text)),
            ArgumentWord::Positional(value) => self.add_positional(value),
        }
    }

    /// Adds an object. It must not override values given before it.
    fn add_object(&mut self, members: Map<String, Value>) {
        let duplicates = members
            .keys()
            .filter(|name| self.named_values.contains(name));
        self.problems
            .extend(duplicates.map(|name| ArgumentProblem::overridden(name)));
        self.objects.extend(members);
    }

    fn add_named(&mut self, name: &str, value: ArgumentValue) {
        self.has_named = true;
        let path = resolve_path(name, self.shape);
        self.named_values.insert(&path, value);
    }

    fn add_positional(&mut self, value: ArgumentValue) {
        if self.has_named {
            let value = match value {
                ArgumentValue::Text(text) => Value::from(text),
                ArgumentValue::Json(value) => value,
            };
            self.problems.push(ArgumentProblem::Unnamed {
                value: value.to_string(),
            });
            return;
        }
        let Some(parameter) = self.positional.get(self.positional_count) else {
            let max = self.positional.len();
            let problem = ArgumentProblem::TooMany { max };
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
            return;
        };
        self.positional_count += 1;
        self.named_values
            .insert(&[parameter.name.to_owned()], value);
    }
}

/// Resolves a name to a path: dots lead into objects if the schema has them.
fn resolve_path(name: &str, shape: &Shape) -> Vec<String> {
    let mut path = Vec::new();
    let mut types = vec![shape.root()];
    let mut rest = name;
    loop {
        let known = |name: &str| -> Vec<&Type> {
            let found = types.iter().flat_map(|ty| declared_types(shape, ty, name));
            // Many alternatives may have the same type.
            let mut seen = HashSet::new();
            found
                .filter(|ty| seen.insert(ptr::from_ref(shape.resolve(ty))))
                .collect()
        };
        let step = rest
            .match_indices('.')
            .map(|(index, _)| (&rest[..index], &rest[index + 1..]))
            .filter(|_| known(rest).is_empty())
            .find_map(|(head, tail)| {
                let inner = known(head);
                let is_container = inner.iter().any(|ty| accepts_members(shape, ty));
                is_container.then_some((head, tail, inner))
            });
        let Some((head, tail, inner)) = step else {
            path.push(rest.to_owned());
            return path;
        };
        path.push(head.to_owned());
        (types, rest) = (inner, tail);
    }
}

#[cfg(test)]
mod tests {
    use bowline_schema::shape::Shape;
    use serde_json::{Value, json};

    use super::assemble;
    use crate::arguments::{parse_call, parse_words};

    const SCHEMA: &str = r##"{
        "properties": {
            "b": {"type": "string"},
            "a": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "point": {"properties": {"x": {"type": "number"}, "label": {"type": "string"}}},
            "dotted.name": {"type": "integer"},
            "sizes": {"anyOf": [{"items": {"type": "integer"}}, {"type": "null"}]},
            "x": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"items": {"type": "integer"}}]},
            "rows": {"items": {"items": {"type": "integer"}}},
            "pet": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}, {"type": "null"}]},
            "both": {"allOf": [{"$ref": "#/$defs/Cat"}, {"properties": {"size": {"type": "integer"}}}]},
            "any": {}
        },
        "required": ["a"],
        "$defs": {
            "Cat": {"properties": {"kind": {"const": "cat"}, "age": {"type": "string"}},
                "required": ["kind"]},
            "Dog": {"properties": {"kind": {"const": "dog"}, "age": {"type": "integer"},
                    "home": {"properties": {"zip": {"type": "string"}}}},
                "required": ["kind"]}
        }
    }"##;

    fn assemble_words(call: &str, words: &[&str]) -> Result<Value, String> {
        let shape = Shape::new(serde_json::from_str(SCHEMA).expect("it is JSON"));
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let given =
            parse_words(&words, None).and_then(|given| parse_call(call, [])?.all_arguments(&given));
        let given = given.map_err(|failure| failure.message)?;
        let (arguments, problems) = assemble(given, &shape);
        match problems.first() {
            None => Ok(Value::Object(arguments)),
            Some(problem) => Err(problem.describe("it")),
        }
    }

    #[track_caller]
    fn check(cases: &[(&[&str], Value)]) {
        for (words, expected) in cases {
            assert_eq!(
                assemble_words("it", words),
                Ok(expected.clone()),
                "{words:?}"
            );
        }
    }

    #[test]
    fn what_is_given_is_put_together() {
        check(&[
            (&["a=1", "b=2"], json!({"a": 1, "b": "2"})),
            (
                &["point.x=1.5", "point.label=7"],
                json!({"point": {"x": 1.5, "label": "7"}}),
            ),
            (
                &["point:={x: 1}", "point.label=7"],
                json!({"point": {"x": 1, "label": "7"}}),
            ),
            (
                &["dotted.name=1", "c.d=x"],
                json!({"dotted.name": 1, "c.d": "x"}),
            ),
            (
                &["both.kind=cat", "both.size=2"],
                json!({"both": {"kind": "cat", "size": 2}}),
            ),
        ]);
    }

    #[test]
    fn a_name_that_is_given_twice_makes_a_list_where_one_is_wanted() {
        check(&[
            (&["tags=x", "tags=y,z"], json!({"tags": ["x", "y,z"]})),
            (&["tags=[x, y]", "tags=z"], json!({"tags": ["x", "y", "z"]})),
            (&["tags=x", "tags:=[\"y\"]"], json!({"tags": ["x", "y"]})),
            (&["tags:=[\"y\"]", "tags=x"], json!({"tags": ["y", "x"]})),
            (&["sizes=1", "sizes=2"], json!({"sizes": [1, 2]})),
            (&["x=1", "x=2"], json!({"x": [1, 2]})),
            (&["x=1"], json!({"x": 1})),
            (
                &["rows=[1, 2]", "rows:=[3]"],
                json!({"rows": [[1, 2], [3]]}),
            ),
            (&["any=1", "any=b"], json!({"any": [1, "b"]})),
            (&["more=1", "more=b"], json!({"more": [1, "b"]})),
        ]);
    }

    #[test]
    fn nothing_that_was_given_is_dropped() {
        let duplicates = "`a` is given more than once but takes one value: integer";
        let cases: [(&str, &[&str], &str); 8] = [
            ("it", &["a=1", "b=2", "a=3"], duplicates),
            ("it", &["a=1", "a:=3"], duplicates),
            ("it(1)", &["a=2"], duplicates),
            ("it", &["x=1", "x=y"], "`x`: expected integer, found \"y\""),
            (
                "it",
                &["a=1", "{a: 2}"],
                "`a` is given before an object that also contains it",
            ),
            (
                "it",
                &["point:={x: 1}", "point.x=2"],
                "`point.x` is given more than once but takes one value: number",
            ),
            (
                "it",
                &["point.x=1", "point=7"],
                "`point`: expected { x?: number, label?: string }, found \"7\"",
            ),
            (
                "it",
                &["{a: 1, a: 2}"],
                "the object: invalid JSON: duplicate member `a`",
            ),
        ];
        for (call, words, expected) in cases {
            assert_eq!(
                assemble_words(call, words),
                Err(expected.to_owned()),
                "{words:?}"
            );
        }
    }

    #[test]
    fn an_object_lies_below_what_is_given_by_name() {
        check(&[
            (&["{a: 1, b: x}", "a=2"], json!({"a": 2, "b": "x"})),
            (&["{a: 1}", "{a: 2}"], json!({"a": 2})),
            (&["{tags: [x]}", "tags=y"], json!({"tags": ["y"]})),
            (
                &["{point: {x: 1, label: z}}", "point.x=2"],
                json!({"point": {"x": 2, "label": "z"}}),
            ),
        ]);
    }

    #[test]
    fn all_alternatives_are_looked_at() {
        check(&[
            (&["pet.kind=dog"], json!({"pet": {"kind": "dog"}})),
            (
                &["pet.age=3", "pet.kind=dog"],
                json!({"pet": {"age": 3, "kind": "dog"}}),
            ),
            (
                &["pet.age=3", "pet.kind=cat"],
                json!({"pet": {"age": "3", "kind": "cat"}}),
            ),
            (
                &["pet.home.zip=10115", "pet.kind=dog"],
                json!({"pet": {"home": {"zip": "10115"}, "kind": "dog"}}),
            ),
            (&["pet=null"], json!({"pet": null})),
            (&["pet={kind: dog}"], json!({"pet": {"kind": "dog"}})),
        ]);
        assert_eq!(
            assemble_words("it", &["pet.kind=cow"]),
            Err("`pet.kind`: expected \"cat\" | \"dog\", found \"cow\"".to_owned())
        );
        assert_eq!(
            assemble_words("it", &["pet.kind=dog", "pet.age=old"]),
            Err("`pet.age`: expected integer, found \"old\"".to_owned())
        );
    }

    #[test]
    fn members_keep_the_order_in_which_they_were_given() {
        let assembled = assemble_words(
            "it",
            &["any:={\"z\": 1, \"a\": {\"y\": 1, \"b\": 2}}", "a=1"],
        );
        let text = assembled.expect("it fits").to_string();
        assert_eq!(text, r#"{"any":{"z":1,"a":{"y":1,"b":2}},"a":1}"#);
    }

    #[test]
    fn values_without_a_name_go_where_they_are_needed() {
        let cases = [
            ("it(1)", Ok(json!({"a": 1}))),
            ("it(1, two)", Ok(json!({"a": 1, "b": "two"}))),
            (
                "it(1, b: 'two', tags: [x])",
                Ok(json!({"a": 1, "b": "two", "tags": ["x"]})),
            ),
            (
                "it(one)",
                Err("`a`: expected integer, found \"one\"".to_owned()),
            ),
            (
                "it(b: x, 1)",
                Err("\"1\" needs a name, because it follows a named argument".to_owned()),
            ),
            (
                "it(1, 2, 3, {}, 5, 6, 7, 8, 9, 10, 11, 12, 13)",
                Err("it takes at most 11 arguments".to_owned()),
            ),
        ];
        for (call, expected) in cases {
            assert_eq!(assemble_words(call, &[]), expected, "{call}");
        }
    }

    #[test]
    fn alternatives_are_found_however_deep_they_are() {
        let mut number = json!({"type": "integer"});
        let mut pet = json!({"properties": {"age": {"type": "string"}}});
        for _ in 0..8 {
            number = json!({"anyOf": [number, {"type": "null"}]});
            pet = json!({"anyOf": [pet, {"type": "null"}]});
        }
        let shape = Shape::new(json!({"properties": {"number": number, "pet": pet}}));
        let assembled = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            let given = parse_words(&words, None).expect("it can be read");
            let (arguments, problems) = assemble(given, &shape);
            let problems: Vec<_> = problems.iter().map(|it| it.describe("it")).collect();
            (Value::Object(arguments), problems)
        };
        let (arguments, problems) = assembled(&["number=1", "pet.age=3"]);
        assert_eq!(
            arguments,
            json!({"number": 1, "pet": {"age": "3"}}),
            "{problems:?}"
        );
        assert_eq!(assembled(&["number=one"]).1.len(), 1);
    }

    #[test]
    fn alternatives_within_alternatives_are_not_tried_for_ever() {
        // Forty alternatives at each of five levels.
        let variants: Vec<_> = (0..40)
            .map(|index| json!({"properties": {"a": {"$ref": "#/$defs/A"}, "kind": {"const": index}}}))
            .collect();
        let shape = Shape::new(json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": variants}}}));
        let given = parse_words(&["a.a.a.a.a:={}".to_owned()], None).expect("it can be read");
        let (arguments, _) = assemble(given, &shape);
        assert_eq!(
            Value::Object(arguments),
            json!({"a": {"a": {"a": {"a": {"a": {}}}}}})
        );
    }
}
