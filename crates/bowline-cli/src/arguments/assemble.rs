//! Putting together what was given, in its order: what comes later wins.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    coerce::coerce,
    problem::Problem,
    word::{Given, Placed},
};
use crate::signature::{Kind, Property, Schema};

/// The arguments, and what could not be made of them.
pub(super) fn assemble(
    given: Vec<Given>,
    schema: Schema<'_>,
) -> (Map<String, Value>, Vec<Problem>) {
    let mut assembly = Assembly {
        schema,
        places: schema.properties(),
        placed: 0,
        named: false,
        arguments: Map::new(),
        lists: HashSet::new(),
        problems: Vec::new(),
    };
    for given in given {
        assembly.take(given);
    }
    (assembly.arguments, assembly.problems)
}

struct Assembly<'a> {
    schema: Schema<'a>,
    /// The order in which values without a name are taken.
    places: Vec<Property<'a>>,
    /// How many values came without a name.
    placed: usize,
    /// Whether one came with a name.
    named: bool,
    arguments: Map<String, Value>,
    /// The lists that grow by being named again.
    lists: HashSet<Vec<String>>,
    problems: Vec<Problem>,
}

impl<'a> Assembly<'a> {
    fn take(&mut self, given: Given) {
        match given {
            Given::All(members) => {
                self.lists.clear();
                self.arguments.extend(members);
            }
            Given::Json { name, value } => {
                self.named = true;
                let (path, _) = self.find(&name);
                self.set(&path, value);
            }
            Given::Text { name, text } => {
                self.named = true;
                let (path, schema) = self.find(&name);
                self.text(path, schema, &name, &text);
            }
            Given::Placed(value) => self.place(value),
        }
    }

    fn place(&mut self, value: Placed) {
        if self.named {
            let value = match value {
                Placed::Text(text) => Value::from(text),
                Placed::Json(value) => value,
            };
            self.problems.push(Problem::Unnamed {
                value: value.to_string(),
            });
            return;
        }
        let Some(property) = self.places.get(self.placed).copied() else {
            let most = self.places.len();
            let problem = Problem::TooMany { most };
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
            return;
        };
        self.placed += 1;
        let path = vec![property.name.to_owned()];
        match value {
            Placed::Json(value) => self.set(&path, value),
            Placed::Text(text) => {
                self.text(path, Some(property.schema), property.name, &text);
            }
        }
    }

    fn text(&mut self, path: Vec<String>, schema: Option<Schema<'a>>, name: &str, text: &str) {
        let value = match schema {
            Some(schema) => coerce(name, text, schema),
            None => Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
        };
        let value = match value {
            Ok(value) => value,
            Err(problem) => return self.problems.push(problem),
        };
        let grows = schema.is_some_and(is_list);
        if let (true, Value::Array(items)) = (grows, &value)
            && self.lists.contains(&path)
            && let Some(Value::Array(list)) = self.slot(&path)
        {
            list.extend(items.iter().cloned());
            return;
        }
        self.set(&path, value);
        if grows {
            self.lists.insert(path);
        }
    }

    /// Where a name leads, and what is said of it: dots lead into objects, if
    /// the schema has such.
    fn find(&self, name: &str) -> (Vec<String>, Option<Schema<'a>>) {
        let mut path = Vec::new();
        let mut here = self.schema;
        let mut rest = name;
        loop {
            if let Some(schema) = property(here, rest) {
                path.push(rest.to_owned());
                return (path, Some(schema));
            }
            let step = rest
                .match_indices('.')
                .map(|(at, _)| (&rest[..at], &rest[at + 1..]))
                .find_map(|(head, tail)| {
                    let schema = property(here, head)?;
                    takes_members(schema).then_some((head, tail, schema))
                });
            let Some((head, tail, schema)) = step else {
                path.push(rest.to_owned());
                let values = here.resolved().sub("additionalProperties");
                return (path, values);
            };
            path.push(head.to_owned());
            (here, rest) = (schema, tail);
        }
    }

    fn set(&mut self, path: &[String], value: Value) {
        self.lists.remove(path);
        if let Some(slot) = self.slot(path) {
            *slot = value;
        }
    }

    /// The place of a value, made if it is not there.
    fn slot(&mut self, path: &[String]) -> Option<&mut Value> {
        let (first, rest) = path.split_first()?;
        let mut slot = self.arguments.entry(first).or_insert(Value::Null);
        for step in rest {
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            slot = slot.as_object_mut()?.entry(step).or_insert(Value::Null);
        }
        Some(slot)
    }
}

/// What is said of a property, in whichever alternative it stands.
fn property<'a>(schema: Schema<'a>, name: &str) -> Option<Schema<'a>> {
    let here = schema.resolved();
    let own = here.properties().into_iter();
    let of_variants = here
        .variants()
        .into_iter()
        .flat_map(|variant| variant.resolved().properties());
    own.chain(of_variants)
        .find(|property| property.name == name)
        .map(|property| property.schema)
}

fn takes_members(schema: Schema<'_>) -> bool {
    let here = schema.resolved();
    let is_object = |schema: Schema<'_>| schema.resolved().kinds().contains(&Kind::Object);
    is_object(here) || here.variants().into_iter().any(is_object)
}

/// Whether it is a list, and nothing else but perhaps nothing.
fn is_list(schema: Schema<'_>) -> bool {
    let here = schema.resolved();
    let variants = here.variants();
    let mut kinds: Vec<_> = match variants.as_slice() {
        [] => here.kinds(),
        some => some.iter().flat_map(|one| one.resolved().kinds()).collect(),
    };
    kinds.retain(|kind| *kind != Kind::Null);
    kinds == [Kind::Array]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::assemble;
    use crate::{
        arguments::{read, split_call},
        signature::Document,
    };

    const SCHEMA: &str = r#"{
        "properties": {
            "b": {"type": "string"},
            "a": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "point": {"properties": {"x": {"type": "number"}, "label": {"type": "string"}}},
            "dotted.name": {"type": "integer"},
            "sizes": {"anyOf": [{"items": {"type": "integer"}}, {"type": "null"}]}
        },
        "required": ["a"]
    }"#;

    fn put(call: &str, words: &[&str]) -> Result<Value, String> {
        let document = Document::new(SCHEMA);
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let given = read(&words, split_call(call).1).map_err(|failure| failure.message)?;
        let (arguments, problems) = assemble(given, document.schema());
        match problems.first() {
            None => Ok(Value::Object(arguments)),
            Some(problem) => Err(problem.describe("it")),
        }
    }

    #[test]
    fn what_is_given_is_put_together() {
        let cases: [(&[&str], Value); 9] = [
            (&["a=1", "b=2"], json!({"a": 1, "b": "2"})),
            (&["a=1", "a=2"], json!({"a": 2})),
            (&["tags=x", "tags=y,z"], json!({"tags": ["x", "y,z"]})),
            (&["tags=[x, y]", "tags=z"], json!({"tags": ["x", "y", "z"]})),
            (&["tags=x", "tags:=[\"y\"]"], json!({"tags": ["y"]})),
            (&["{tags: [x]}", "tags=y"], json!({"tags": ["y"]})),
            (&["sizes=1", "sizes=2"], json!({"sizes": [1, 2]})),
            (
                &["point.x=1.5", "point.label=7"],
                json!({"point": {"x": 1.5, "label": "7"}}),
            ),
            (
                &["dotted.name=1", "c.d=x"],
                json!({"dotted.name": 1, "c.d": "x"}),
            ),
        ];
        for (words, expected) in cases {
            assert_eq!(put("it", words), Ok(expected), "{words:?}");
        }
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
                Err("`a`: integer is expected, not \"one\"".to_owned()),
            ),
            (
                "it(b: x, 1)",
                Err("\"1\" needs a name, since it comes after an argument with one".to_owned()),
            ),
            (
                "it(1, 2, 3, {}, 5, 6, 7, 8)",
                Err("it takes 6 arguments at most".to_owned()),
            ),
        ];
        for (call, expected) in cases {
            assert_eq!(put(call, &[]), expected, "{call}");
        }
        assert_eq!(
            put("it(1)", &["a=2"]),
            Ok(json!({"a": 2})),
            "the later wins"
        );
    }
}
