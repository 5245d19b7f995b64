//! Building values from named parts, by the schema.
//!
//! If the schema has alternatives, the parts are tried on each: how a string is
//! interpreted may depend on the other parts.

use std::cell::Cell;

use bowline_schema::shape::{Shape, Type};
use serde_json::{Map, Value};

use super::{
    alternatives::{ObjectAlternative, declared_types},
    coerce,
    problem::{ArgumentProblem, expected_type},
    word::ArgumentValue,
};

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
    shape: &Shape,
) -> (Map<String, Value>, Vec<ArgumentProblem>) {
    let builder = Builder {
        shape,
        attempts: Cell::new(MAX_ATTEMPTS),
    };
    builder.best_alternative(tree, base, shape.root(), "")
}

struct Builder<'a> {
    shape: &'a Shape,
    /// Remaining attempts.
    attempts: Cell<usize>,
}

/// The parts, tried on one alternative.
struct Attempt {
    object: Map<String, Value>,
    problems: Vec<ArgumentProblem>,
    /// How many members contradict this alternative, and the number of
    /// problems.
    distance: (usize, usize),
}

impl Builder<'_> {
    /// Builds the object for the alternative that matches best.
    fn best_alternative(
        &self,
        tree: &ValueTree,
        base: &Map<String, Value>,
        ty: &Type,
        path: &str,
    ) -> (Map<String, Value>, Vec<ArgumentProblem>) {
        let alternatives = ObjectAlternative::enumerate(self.shape, ty);
        let mut attempts = Vec::new();
        for alternative in &alternatives {
            // At least one attempt is needed.
            if self.may_try() || attempts.is_empty() {
                attempts.push(self.attempt(tree, base.clone(), *alternative, path));
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

    fn may_try(&self) -> bool {
        let remaining = self.attempts.get().checked_sub(1);
        self.attempts.set(remaining.unwrap_or_default());
        remaining.is_some()
    }

    fn attempt(
        &self,
        tree: &ValueTree,
        base: Map<String, Value>,
        alternative: ObjectAlternative<'_>,
        path: &str,
    ) -> Attempt {
        let mut object = base;
        let mut problems = Vec::new();
        for (name, tree) in &tree.members {
            let member_path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            let base = object.get(name);
            let ty = alternative.member_type(name);
            let value = self.build_value(tree, base, ty, &member_path, &mut problems);
            object.insert(name.clone(), value);
        }
        let (contradictions, misfits) = alternative.distance(self.shape, &object);
        Attempt {
            distance: (contradictions, problems.len() + misfits),
            object,
            problems,
        }
    }

    /// Builds the value of a part. If it is invalid, the closest value.
    fn build_value(
        &self,
        tree: &ValueTree,
        base: Option<&Value>,
        ty: Option<&Type>,
        path: &str,
        problems: &mut Vec<ArgumentProblem>,
    ) -> Value {
        let mut base = match base {
            Some(Value::Object(members)) => members.clone(),
            _ => Map::new(),
        };
        if !tree.values.is_empty() {
            let value = match self.coerce_values(&tree.values, ty, path) {
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
                    let known = ty.map(|ty| declared_types(self.shape, ty, name));
                    let known = known.and_then(|known| known.first().copied());
                    problems.push(self.repeated_problem(&format!("{path}.{name}"), known));
                }
            }
        }
        match ty {
            Some(ty) => {
                let (object, found) = self.best_alternative(tree, &base, ty, path);
                problems.extend(found);
                Value::Object(object)
            }
            // Only another alternative declares it.
            None => {
                for (name, tree) in &tree.members {
                    let path = format!("{path}.{name}");
                    let value = self.build_value(tree, None, None, &path, problems);
                    base.insert(name.clone(), value);
                }
                Value::Object(base)
            }
        }
    }

    /// Converts the values given for a path: several make a list.
    fn coerce_values(
        &self,
        given: &[ArgumentValue],
        ty: Option<&Type>,
        path: &str,
    ) -> Result<Value, ArgumentProblem> {
        let Some(ty) = ty else {
            return Ok(match given {
                [one] => parse_loosely(one),
                several => several.iter().map(parse_loosely).collect(),
            });
        };
        match given {
            [ArgumentValue::Json(value)] => Ok(value.clone()),
            [ArgumentValue::Text(text)] => coerce::coerce(path, text, self.shape, ty),
            several => self.coerce_list(several, ty, path),
        }
    }

    /// Builds a list of all values, if the type allows one.
    fn coerce_list(
        &self,
        given: &[ArgumentValue],
        ty: &Type,
        path: &str,
    ) -> Result<Value, ArgumentProblem> {
        let mut first = None;
        for list in coerce::list_types(self.shape, ty) {
            // Lists are concatenated, unless it is a list of lists.
            for flatten in [true, false] {
                let value = self.coerce_items(given, list, flatten, path);
                match value {
                    Ok(value) if self.shape.fits(list, &value) => return Ok(value),
                    value => drop(first.get_or_insert(value)),
                }
            }
        }
        first.unwrap_or_else(|| Err(self.repeated_problem(path, Some(ty))))
    }

    fn coerce_items(
        &self,
        given: &[ArgumentValue],
        list: &Type,
        flatten: bool,
        path: &str,
    ) -> Result<Value, ArgumentProblem> {
        let mut items = Vec::new();
        for given in given {
            let inner = match given {
                ArgumentValue::Json(value) => Some(value.clone()),
                ArgumentValue::Text(text) => coerce::parse_array(text),
            };
            match (inner, given) {
                (Some(Value::Array(inner)), _) if flatten => items.extend(inner),
                (_, ArgumentValue::Json(value)) => items.push(value.clone()),
                (_, ArgumentValue::Text(text)) => {
                    items.push(match coerce::item_type(list, items.len()) {
                        Some(ty) => coerce::coerce(path, text, self.shape, ty)?,
                        None => coerce::parse_untyped(text),
                    });
                }
            }
        }
        Ok(items.into())
    }

    fn repeated_problem(&self, path: &str, ty: Option<&Type>) -> ArgumentProblem {
        let expected = ty.map(|ty| expected_type(self.shape, [ty]));
        ArgumentProblem::Repeated {
            path: path.to_owned(),
            expected: expected.unwrap_or_else(|| "any".to_owned()),
        }
    }
}

/// Parses a value as JSON, or keeps it as a string.
fn parse_loosely(given: &ArgumentValue) -> Value {
    match given {
        ArgumentValue::Json(value) => value.clone(),
        ArgumentValue::Text(text) => coerce::parse_untyped(text),
    }
}
