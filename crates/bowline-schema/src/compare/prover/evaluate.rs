//! Whether a value that a schema lists is valid for another schema.
//!
//! As validation has it, but with a third answer: that it is not known.

use serde_json::{Map, Number, Value};

use super::{
    super::{
        document::{Node, Target},
        keyword::Role,
        kinds::Kinds,
        number::is_multiple,
    },
    MAX_DEPTH, Prover,
    arrays::{first_items, other_items},
    members::other_members,
    numbers::limit,
};
use crate::validate::equal::compare;

/// An answer. Of several that must all be yes, the least is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    No,
    Unknown,
    Yes,
}

impl Truth {
    fn of(is_true: bool) -> Self {
        match is_true {
            true => Self::Yes,
            false => Self::No,
        }
    }

    fn negate(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }

    /// Returns whether all are true.
    fn all(answers: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Yes;
        for answer in answers {
            all = all.min(answer);
            if all == Self::No {
                break;
            }
        }
        all
    }
}

impl<'a> Prover<'a> {
    /// Returns whether a value is valid for a schema.
    pub(super) fn accepts(&mut self, schema: Node<'a>, value: &'a Value) -> Truth {
        let members = match schema.value {
            Value::Bool(yes) => return Truth::of(*yes),
            Value::Object(members) => members,
            _ => return Truth::Unknown,
        };
        if self.depth >= MAX_DEPTH || !self.spend(1 + members.len()) {
            return Truth::Unknown;
        }
        self.depth += 1;
        let answer = Truth::all(members.iter().map(|(keyword, parameter)| {
            let answer = self.keyword_accepts(schema, keyword, parameter, value);
            answer.unwrap_or(Truth::Unknown)
        }));
        self.depth -= 1;
        answer
    }

    /// Returns whether a value is valid for a keyword, or `None` if the keyword is not
    /// valid or not understood.
    fn keyword_accepts(
        &mut self,
        schema: Node<'a>,
        keyword: &str,
        parameter: &'a Value,
        value: &'a Value,
    ) -> Option<Truth> {
        let role = Role::of(keyword);
        if matches!(keyword, "$recursiveAnchor" | "$recursiveRef") {
            return None;
        }
        if !role.restricts() || matches!(keyword, "then" | "else" | "minContains" | "maxContains") {
            return Some(Truth::Yes);
        }
        // Formats and the like restrict nothing here, but compare as if they did.
        if matches!(
            keyword,
            "format" | "contentEncoding" | "contentMediaType" | "contentSchema"
        ) {
            return Some(Truth::Yes);
        }
        match keyword {
            "type" => {
                let kinds = Kinds::of_type(parameter)?;
                return Some(Truth::of(Kinds::of_value(value).is_within(kinds)));
            }
            "const" => return Some(Truth::of(self.is_equal(parameter, value))),
            "enum" => {
                let (set, id) = (self.set_of(parameter), self.id(value));
                return parameter.is_array().then_some(Truth::of(set.contains(&id)));
            }
            _ => {}
        }
        match (role, value) {
            (Role::Reference, _) => match self.resolve(schema, keyword, parameter) {
                Target::Schema(target) => Some(self.accepts(target, value)),
                _ => None,
            },
            _ if matches!(keyword, "allOf" | "anyOf" | "oneOf" | "not" | "if") => {
                self.applicator_accepts(schema, keyword, parameter, value)
            }
            (_, Value::Number(it)) => Some(number_accepts(keyword, parameter.as_number(), it)),
            (_, Value::String(it)) => self.text_accepts(keyword, parameter, it),
            (_, Value::Array(items)) => self.items_accept(schema, keyword, parameter, items),
            (_, Value::Object(it)) => self.members_accept(schema, keyword, parameter, it, value),
            _ => Some(Truth::Yes),
        }
    }

    fn applicator_accepts(
        &mut self,
        schema: Node<'a>,
        keyword: &str,
        parameter: &'a Value,
        value: &'a Value,
    ) -> Option<Truth> {
        if keyword == "not" {
            let inner = self.child(schema, parameter);
            return Some(self.accepts(inner, value).negate());
        }
        if keyword == "if" {
            let condition = self.child(schema, parameter);
            let branch = match self.accepts(condition, value) {
                Truth::Yes => "then",
                Truth::No => "else",
                Truth::Unknown => return None,
            };
            let branch = schema.get(branch).map(|it| self.child(schema, it));
            return Some(branch.map_or(Truth::Yes, |branch| self.accepts(branch, value)));
        }
        let list = parameter.as_array().filter(|list| !list.is_empty())?;
        let mut answers = Vec::with_capacity(list.len());
        for alternative in list {
            let alternative = self.child(schema, alternative);
            answers.push(self.accepts(alternative, value));
        }
        let count = |answer| answers.iter().filter(|it| **it == answer).count();
        Some(match (keyword, count(Truth::Yes), count(Truth::Unknown)) {
            ("allOf", ..) => Truth::all(answers),
            ("anyOf", 1.., _) | ("oneOf", 1, 0) => Truth::Yes,
            (_, 0, 0) | ("oneOf", 2.., _) => Truth::No,
            _ => Truth::Unknown,
        })
    }

    fn text_accepts(&mut self, keyword: &str, parameter: &'a Value, text: &str) -> Option<Truth> {
        let length = || u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        Some(match keyword {
            "minLength" => Truth::of(length() >= limit(parameter)?),
            "maxLength" => Truth::of(length() <= limit(parameter)?),
            "pattern" => Truth::of(self.matches(parameter.as_str()?, text)?),
            _ => Truth::Yes,
        })
    }

    fn items_accept(
        &mut self,
        schema: Node<'a>,
        keyword: &str,
        parameter: &'a Value,
        items: &'a [Value],
    ) -> Option<Truth> {
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        Some(match keyword {
            "minItems" => Truth::of(count >= limit(parameter)?),
            "maxItems" => Truth::of(count <= limit(parameter)?),
            "uniqueItems" if !parameter.as_bool()? => Truth::Yes,
            "uniqueItems" => {
                let mut ids: Vec<_> = items.iter().map(|item| self.id(item)).collect();
                ids.sort_unstable();
                Truth::of(ids.windows(2).all(|pair| pair[0] != pair[1]))
            }
            "prefixItems" | "items" | "additionalItems" => {
                let first = first_items(schema);
                let rest = other_items(schema);
                Truth::all(items.iter().enumerate().map(|(at, item)| {
                    let Some(part) = first.get(at).or(rest) else {
                        return Truth::Yes;
                    };
                    let part = self.child(schema, part);
                    self.accepts(part, item)
                }))
            }
            "contains" => self.contains_accepts(schema, parameter, items)?,
            // It depends on the keywords beside it.
            "unevaluatedItems" => return None,
            _ => Truth::Yes,
        })
    }

    fn contains_accepts(
        &mut self,
        schema: Node<'a>,
        parameter: &'a Value,
        items: &'a [Value],
    ) -> Option<Truth> {
        let min = schema.get("minContains").map_or(Some(1), limit)?;
        let max = schema.get("maxContains").map_or(Some(u64::MAX), limit)?;
        let part = self.child(schema, parameter);
        let (mut certain, mut possible) = (0, 0);
        for item in items {
            let answer = self.accepts(part, item);
            certain += u64::from(answer == Truth::Yes);
            possible += u64::from(answer >= Truth::Unknown);
        }
        Some(if possible < min || certain > max {
            Truth::No
        } else if certain >= min && possible <= max {
            Truth::Yes
        } else {
            Truth::Unknown
        })
    }

    fn members_accept(
        &mut self,
        schema: Node<'a>,
        keyword: &str,
        parameter: &'a Value,
        members: &'a Map<String, Value>,
        value: &'a Value,
    ) -> Option<Truth> {
        let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
        Some(match keyword {
            "minProperties" => Truth::of(count >= limit(parameter)?),
            "maxProperties" => Truth::of(count <= limit(parameter)?),
            "required" => {
                let names = parameter.as_array()?.iter().map(Value::as_str);
                let mut names = names.collect::<Option<Vec<_>>>()?.into_iter();
                Truth::of(names.all(|name| members.contains_key(name)))
            }
            "properties" => {
                let named = parameter.as_object()?.iter();
                Truth::all(named.map(|(name, part)| {
                    let part = self.child(schema, part);
                    let member = members.get(name);
                    member.map_or(Truth::Yes, |member| self.accepts(part, member))
                }))
            }
            "patternProperties" => self.matching_accept(schema, parameter, members)?,
            "additionalProperties" | "unevaluatedProperties" => {
                self.others_accept(schema, keyword, members)?
            }
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                let dependencies = parameter.as_object()?.iter();
                let present = dependencies.filter(|(name, _)| members.contains_key(*name));
                Truth::all(present.map(|(_, needed)| match needed {
                    Value::Array(names) => {
                        let mut names = names.iter().filter_map(Value::as_str);
                        Truth::of(names.all(|name| members.contains_key(name)))
                    }
                    part => {
                        let part = self.child(schema, part);
                        self.accepts(part, value)
                    }
                }))
            }
            // Names are not values of a document.
            "propertyNames" => return None,
            _ => Truth::Yes,
        })
    }

    /// Checks the members whose names match patterns.
    fn matching_accept(
        &mut self,
        schema: Node<'a>,
        parameter: &'a Value,
        members: &'a Map<String, Value>,
    ) -> Option<Truth> {
        let mut all = Truth::Yes;
        for (pattern, part) in parameter.as_object()? {
            let part = self.child(schema, part);
            for (name, member) in members {
                all = all.min(match self.matches(pattern, name) {
                    Some(false) => Truth::Yes,
                    Some(true) => self.accepts(part, member),
                    None => self.accepts(part, member).max(Truth::Unknown),
                });
            }
        }
        Some(all)
    }

    /// Checks the members that are neither named nor match a pattern.
    fn others_accept(
        &mut self,
        schema: Node<'a>,
        keyword: &str,
        members: &'a Map<String, Value>,
    ) -> Option<Truth> {
        let others = other_members(schema).filter(|(it, _)| *it == keyword);
        let (_, part) = others?;
        let part = self.child(schema, part);
        Some(Truth::all(members.iter().map(
            |(name, member)| match self.is_described(schema, name) {
                Some(true) => Truth::Yes,
                Some(false) => self.accepts(part, member),
                None => self.accepts(part, member).max(Truth::Unknown),
            },
        )))
    }
}

fn number_accepts(keyword: &str, parameter: Option<&Number>, value: &Number) -> Truth {
    let is_number_keyword = matches!(
        keyword,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
    );
    let Some(parameter) = parameter.filter(|_| is_number_keyword) else {
        return match is_number_keyword {
            true => Truth::Unknown,
            false => Truth::Yes,
        };
    };
    Truth::of(match keyword {
        "minimum" => compare(value, parameter).is_ge(),
        "maximum" => compare(value, parameter).is_le(),
        "exclusiveMinimum" => compare(value, parameter).is_gt(),
        "exclusiveMaximum" => compare(value, parameter).is_lt(),
        _ => is_multiple(value, parameter),
    })
}
