//! Building values from named parts, by the schema.
//!
//! If the schema has alternatives, the parts are tried on each: how a string is
//! interpreted may depend on the other parts.

use serde_json::{Map, Value};

use super::{
    alternatives::{ObjectAlternative, property_schemas},
    check, coerce,
    problem::ArgumentProblem,
    word::ArgumentValue,
};
use crate::signature::{Budget, Detail, Schema, type_name};

/// The values given for one path, and for paths below it.
#[derive(Debug, Default)]
pub(super) struct ValueTree {
    values: Vec<ArgumentValue>,
    members: Vec<(String, ValueTree)>,
}

impl ValueTree {
    /// Returns whether a value was given for a member, or below it.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// Adds a value.
    pub(super) fn insert(&mut self, path: &[String], value: ArgumentValue) {
        let Some((first, rest)) = path.split_first() else {
            return self.values.push(value);
        };
        let index = self.members.iter().position(|(name, _)| name == first);
        let index = index.unwrap_or_else(|| {
            self.members.push((first.clone(), Self::default()));
            self.members.len() - 1
        });
        self.members[index].1.insert(rest, value);
    }
}

/// Maximum number of attempts in total: with nested alternatives, attempts
/// multiply.
const MAX_ATTEMPTS: usize = 1_000;

/// Builds an object from the parts over a base object, and collects the
/// problems.
pub(super) fn build_object(
    tree: &ValueTree,
    base: &Map<String, Value>,
    schema: Schema<'_>,
) -> (Map<String, Value>, Vec<ArgumentProblem>) {
    best_alternative(tree, base, schema, "", &Budget::new(MAX_ATTEMPTS))
}

/// Builds the object for the alternative that matches best.
fn best_alternative(
    tree: &ValueTree,
    base: &Map<String, Value>,
    schema: Schema<'_>,
    path: &str,
    budget: &Budget,
) -> (Map<String, Value>, Vec<ArgumentProblem>) {
    let alternatives = ObjectAlternative::enumerate(schema);
    let mut attempts = Vec::new();
    for alternative in &alternatives {
        // At least one attempt is needed.
        if budget.spend(0) || attempts.is_empty() {
            attempts.push(Attempt::new(tree, base.clone(), alternative, path, budget));
        }
    }
    // The first one wins a tie.
    let best = (0..attempts.len()).min_by_key(|index| attempts[*index].distance);
    let best = attempts.swap_remove(best.unwrap_or_default());
    let mut problems = best.problems;
    if best.distance.0 > 0 && alternatives.len() > 1 {
        // If several match equally well, expected types of all of them are
        // reported.
        problems = problems
            .into_iter()
            .map(|problem| {
                problem.with_alternatives(attempts.iter().flat_map(|other| &other.problems))
            })
            .collect();
    }
    (best.object, problems)
}

/// The parts, tried on one alternative.
struct Attempt {
    object: Map<String, Value>,
    problems: Vec<ArgumentProblem>,
    /// How many members contradict this alternative, and the number of
    /// problems.
    distance: (usize, usize),
}

impl Attempt {
    fn new(
        tree: &ValueTree,
        base: Map<String, Value>,
        alternative: &ObjectAlternative<'_>,
        path: &str,
        budget: &Budget,
    ) -> Self {
        let mut object = base;
        let mut problems = Vec::new();
        for (name, tree) in &tree.members {
            let member_path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let base = object.get(name);
            let schema = alternative.member_schema(name);
            let value = build_value(tree, base, schema, &member_path, budget, &mut problems);
            object.insert(name.clone(), value);
        }
        let violations = check::check_alternative(&object, alternative, path);
        let contradictions = check::contradictions(&object, alternative);
        Self {
            distance: (contradictions, problems.len() + violations.len()),
            object,
            problems,
        }
    }
}

/// Builds the value of a part. If it is invalid, the closest value.
fn build_value(
    tree: &ValueTree,
    base: Option<&Value>,
    schema: Option<Schema<'_>>,
    path: &str,
    budget: &Budget,
    problems: &mut Vec<ArgumentProblem>,
) -> Value {
    let mut base = match base {
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    };
    if !tree.values.is_empty() {
        let value = match coerce_values(&tree.values, schema, path) {
            Ok(value) => value,
            Err(problem) => {
                problems.push(problem);
                return parse_loosely(&tree.values[0]);
            }
        };
        match value {
            Value::Object(members) if !tree.members.is_empty() => base = members,
            value if tree.members.is_empty() => return value,
            value => {
                problems.push(ArgumentProblem::invalid(path, "an object", &value));
                return value;
            }
        }
        for (name, _) in &tree.members {
            if base.contains_key(name) {
                let known = schema.map(|schema| property_schemas(schema, name));
                let known = known.and_then(|known| known.first().copied());
                problems.push(repeated_problem(&format!("{path}.{name}"), known));
            }
        }
    }
    match schema {
        Some(schema) => {
            let (object, found) = best_alternative(tree, &base, schema, path, budget);
            problems.extend(found);
            Value::Object(object)
        }
        // Only another alternative declares it.
        None => {
            for (name, tree) in &tree.members {
                let path = format!("{path}.{name}");
                let value = build_value(tree, None, None, &path, budget, problems);
                base.insert(name.clone(), value);
            }
            Value::Object(base)
        }
    }
}

/// Converts the values given for a path: several make a list.
fn coerce_values(
    given: &[ArgumentValue],
    schema: Option<Schema<'_>>,
    path: &str,
) -> Result<Value, ArgumentProblem> {
    let Some(schema) = schema else {
        return Ok(match given {
            [one] => parse_loosely(one),
            several => several.iter().map(parse_loosely).collect(),
        });
    };
    match given {
        [ArgumentValue::Json(value)] => Ok(value.clone()),
        [ArgumentValue::Text(text)] => coerce::coerce(path, text, schema),
        several => coerce_list(several, schema, path),
    }
}

/// Parses a value as JSON, or keeps it as a string.
fn parse_loosely(given: &ArgumentValue) -> Value {
    match given {
        ArgumentValue::Json(value) => value.clone(),
        ArgumentValue::Text(text) => coerce::parse_untyped(text),
    }
}

/// Builds a list of all values, if the schema allows one.
fn coerce_list(
    given: &[ArgumentValue],
    schema: Schema<'_>,
    path: &str,
) -> Result<Value, ArgumentProblem> {
    let lists = coerce::array_schemas(schema);
    let mut first = None;
    for list in &lists {
        // Lists are concatenated, unless it is a list of lists.
        for flatten in [true, false] {
            let value = coerce_items(given, list.items(), flatten, path);
            match value {
                Ok(value) if check::is_valid(&value, *list) => return Ok(value),
                value => drop(first.get_or_insert(value)),
            }
        }
    }
    first.unwrap_or_else(|| Err(repeated_problem(path, Some(schema))))
}

fn coerce_items(
    given: &[ArgumentValue],
    schema: Option<Schema<'_>>,
    flatten: bool,
    path: &str,
) -> Result<Value, ArgumentProblem> {
    let mut items = Vec::new();
    for given in given {
        let list = match given {
            ArgumentValue::Json(value) => Some(value.clone()),
            ArgumentValue::Text(text) => coerce::parse_array(text),
        };
        match (list, given) {
            (Some(Value::Array(list)), _) if flatten => items.extend(list),
            (_, ArgumentValue::Json(value)) => items.push(value.clone()),
            (_, ArgumentValue::Text(text)) => items.push(match schema {
                Some(schema) => coerce::coerce(path, text, schema)?,
                None => coerce::parse_untyped(text),
            }),
        }
    }
    Ok(items.into())
}

fn repeated_problem(path: &str, schema: Option<Schema<'_>>) -> ArgumentProblem {
    let expected = schema.map(|schema| type_name(schema, Detail::SHORT));
    ArgumentProblem::Repeated {
        path: path.to_owned(),
        expected: expected.unwrap_or_else(|| "any".to_owned()),
    }
}
