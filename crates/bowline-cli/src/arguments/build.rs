//! Values from the parts that were given, by the schema.
//!
//! Where the schema has alternatives, the parts are tried on each: what a text
//! means may depend on what else is there.

use serde_json::{Map, Value};

use super::{
    check, coerce,
    problem::Problem,
    view::{View, property},
    word::Typed,
};
use crate::signature::{Budget, Detail, Schema, type_name};

/// What was given for one place: values for it, and for what is within it.
#[derive(Debug, Default)]
pub(super) struct Part {
    values: Vec<Typed>,
    members: Vec<(String, Part)>,
}

impl Part {
    /// Whether something was given for a member, or for what is within it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// Adds a value.
    pub(super) fn put(&mut self, path: &[String], value: Typed) {
        let Some((first, rest)) = path.split_first() else {
            return self.values.push(value);
        };
        let at = self.members.iter().position(|(name, _)| name == first);
        let at = at.unwrap_or_else(|| {
            self.members.push((first.clone(), Self::default()));
            self.members.len() - 1
        });
        self.members[at].1.put(rest, value);
    }
}

/// How often parts are tried on an alternative, in all: where alternatives lie
/// within alternatives, tries multiply.
const MAX_TRIES: usize = 1_000;

/// An object of the parts, laid over `below`, with what could not be made.
pub(super) fn build_object(
    part: &Part,
    below: &Map<String, Value>,
    schema: Schema<'_>,
) -> (Map<String, Value>, Vec<Problem>) {
    nearest(part, below, schema, "", &Budget::new(MAX_TRIES))
}

/// The object that comes nearest to one of the alternatives.
fn nearest(
    part: &Part,
    below: &Map<String, Value>,
    schema: Schema<'_>,
    path: &str,
    budget: &Budget,
) -> (Map<String, Value>, Vec<Problem>) {
    let views = View::all(schema);
    let mut tries = Vec::new();
    for view in &views {
        // One is needed in any case.
        if budget.take(0) || tries.is_empty() {
            tries.push(Try::new(part, below.clone(), view, path, budget));
        }
    }
    // Of two that are as near, the first.
    let nearest = (0..tries.len()).min_by_key(|at| tries[*at].distance);
    let nearest = tries.swap_remove(nearest.unwrap_or_default());
    let mut problems = nearest.problems;
    if nearest.distance.0 > 0 && views.len() > 1 {
        // None is meant for sure: what each would take is what is expected.
        problems = problems
            .into_iter()
            .map(|problem| problem.widened(tries.iter().flat_map(|other| &other.problems)))
            .collect();
    }
    (nearest.object, problems)
}

/// The parts, tried on one alternative.
struct Try {
    object: Map<String, Value>,
    problems: Vec<Problem>,
    /// How many members say that another alternative is meant, and how much is
    /// wrong in all.
    distance: (usize, usize),
}

impl Try {
    fn new(
        part: &Part,
        below: Map<String, Value>,
        view: &View<'_>,
        path: &str,
        budget: &Budget,
    ) -> Self {
        let mut object = below;
        let mut problems = Vec::new();
        for (name, part) in &part.members {
            let inner = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let below = object.get(name);
            let schema = view.member(name);
            let value = build(part, below, schema, &inner, budget, &mut problems);
            object.insert(name.clone(), value);
        }
        let wrong = check::view(&object, view, path);
        let contradictions = check::contradictions(&object, view);
        Self {
            distance: (contradictions, problems.len() + wrong.len()),
            object,
            problems,
        }
    }
}

/// The value of a part. Where there is none, what comes nearest.
fn build(
    part: &Part,
    below: Option<&Value>,
    schema: Option<Schema<'_>>,
    path: &str,
    budget: &Budget,
    problems: &mut Vec<Problem>,
) -> Value {
    let mut below = match below {
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    };
    if !part.values.is_empty() {
        let value = match values(&part.values, schema, path) {
            Ok(value) => value,
            Err(problem) => {
                problems.push(problem);
                return as_it_is(&part.values[0]);
            }
        };
        match value {
            Value::Object(members) if !part.members.is_empty() => below = members,
            value if part.members.is_empty() => return value,
            value => {
                problems.push(Problem::misfit(path, "an object", &value));
                return value;
            }
        }
        for (name, _) in &part.members {
            if below.contains_key(name) {
                let known = schema.map(|schema| property(schema, name));
                let known = known.and_then(|known| known.first().copied());
                problems.push(repeated(&format!("{path}.{name}"), known));
            }
        }
    }
    match schema {
        Some(schema) => {
            let (object, found) = nearest(part, &below, schema, path, budget);
            problems.extend(found);
            Value::Object(object)
        }
        // Only another alternative knows it.
        None => {
            for (name, part) in &part.members {
                let path = format!("{path}.{name}");
                let value = build(part, None, None, &path, budget, problems);
                below.insert(name.clone(), value);
            }
            Value::Object(below)
        }
    }
}

/// The value that was given for a place: several make a list.
fn values(given: &[Typed], schema: Option<Schema<'_>>, path: &str) -> Result<Value, Problem> {
    let Some(schema) = schema else {
        return Ok(match given {
            [one] => as_it_is(one),
            several => several.iter().map(as_it_is).collect(),
        });
    };
    match given {
        [Typed::Json(value)] => Ok(value.clone()),
        [Typed::Text(text)] => coerce::coerce(path, text, schema),
        several => list(several, schema, path),
    }
}

/// What reads as JSON is JSON, and all else is text.
fn as_it_is(given: &Typed) -> Value {
    match given {
        Typed::Json(value) => value.clone(),
        Typed::Text(text) => coerce::open(text),
    }
}

/// A list of all that was given, if one may stand there.
fn list(given: &[Typed], schema: Schema<'_>, path: &str) -> Result<Value, Problem> {
    let lists = coerce::lists(schema);
    let mut first = None;
    for list in &lists {
        // Lists are put one after the other, unless it is a list of lists.
        for joined in [true, false] {
            let value = items(given, list.items(), joined, path);
            match value {
                Ok(value) if check::fits(&value, *list) => return Ok(value),
                value => drop(first.get_or_insert(value)),
            }
        }
    }
    first.unwrap_or_else(|| Err(repeated(path, Some(schema))))
}

fn items(
    given: &[Typed],
    schema: Option<Schema<'_>>,
    joined: bool,
    path: &str,
) -> Result<Value, Problem> {
    let mut items = Vec::new();
    for given in given {
        let list = match given {
            Typed::Json(value) => Some(value.clone()),
            Typed::Text(text) => coerce::bracketed(text),
        };
        match (list, given) {
            (Some(Value::Array(list)), _) if joined => items.extend(list),
            (_, Typed::Json(value)) => items.push(value.clone()),
            (_, Typed::Text(text)) => items.push(match schema {
                Some(schema) => coerce::coerce(path, text, schema)?,
                None => coerce::open(text),
            }),
        }
    }
    Ok(items.into())
}

fn repeated(path: &str, schema: Option<Schema<'_>>) -> Problem {
    let expected = schema.map(|schema| type_name(schema, Detail::SHORT));
    Problem::Repeated {
        path: path.to_owned(),
        expected: expected.unwrap_or_else(|| "any".to_owned()),
    }
}
