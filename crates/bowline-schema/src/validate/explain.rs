//! Why a value is not valid: all violations, or the first of many.

use serde_json::Value;

use super::{
    ValidationError,
    budget::CheckBudget,
    check::Check,
    compile::Compiled,
    display::{TruncatedJson, truncate_message},
    error::Detail,
    error_kind::ValidationErrorKind as Kind,
    keyword::{Keyword, Node, Schema, WholeKeyword},
    location::Location,
    violation::wrong_type,
};

/// The maximum number of errors that are collected.
pub(super) const MAX_ERRORS: usize = 16;

/// One search for violations.
pub(super) struct Explanation<'a> {
    pub(super) check: Check<'a>,
    pub(super) errors: Vec<ValidationError>,
    /// What to find out about each.
    detail: Detail,
}

impl<'a> Explanation<'a> {
    pub(super) fn new(compiled: &'a Compiled, budget: &'a CheckBudget, detail: Detail) -> Self {
        Self {
            check: Check::new(compiled, budget),
            errors: Vec::new(),
            detail,
        }
    }

    /// Reports all violations of a schema, and returns whether there are none.
    #[inline]
    pub(super) fn explain(&mut self, node: Node, value: &Value, location: &Location<'_>) -> bool {
        self.is_right(node, value) || self.explain_wrong(node, value, location)
    }

    /// Returns whether there is nothing to explain, for a value without others in it: most
    /// are right.
    #[inline(always)]
    pub(super) fn is_right(&self, node: Node, value: &Value) -> bool {
        let schema = &self.check.compiled.nodes[node];
        schema.is_leaf && self.check.is_valid_itself(schema, value)
    }

    /// The same as [`explain`](Self::explain), for what is probably wrong.
    pub(super) fn explain_wrong(
        &mut self,
        node: Node,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let entered = self.check.enter(node);
        let schema = &self.check.compiled.nodes[node];
        let is_valid = self.explain_each(schema, value, location);
        self.check.leave(entered);
        is_valid
    }

    fn explain_each(&mut self, schema: &'a Schema, value: &Value, location: &Location<'_>) -> bool {
        if !self.check.budget.spend(schema.steps) {
            return false;
        }
        let has_type = schema.types.matches(value);
        self.require(has_type, location, |detail| {
            wrong_type(schema.types, value, detail)
        });
        let mut is_valid = has_type;
        is_valid &= self.all(&schema.values, |this, keyword| {
            let is_met = keyword.is_met(value, this.check.budget);
            this.require(is_met, location, |detail| keyword.violation(value, detail))
        });
        if let (Some(table), Value::Object(members)) = (&schema.members, value) {
            is_valid &= self.explain_members(table, members, location);
        }
        is_valid
            & self.all(&schema.keywords, |this, keyword| {
                this.explain_keyword(keyword, value, location)
            })
    }

    /// Returns whether all are valid. Continues after the first invalid one if the
    /// maximum of errors is not reached.
    pub(super) fn all<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut is_valid_item: impl FnMut(&mut Self, T) -> bool,
    ) -> bool {
        let mut all = true;
        for item in items {
            all &= is_valid_item(self, item);
            if !all && (self.errors.len() >= MAX_ERRORS || self.check.budget.is_exhausted()) {
                return false;
            }
        }
        all
    }

    #[inline]
    pub(super) fn require(
        &mut self,
        is_met: bool,
        location: &Location<'_>,
        why: impl FnOnce(Detail) -> ValidationError,
    ) -> bool {
        if !is_met {
            self.report(location, why);
        }
        is_met
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, location: &Location<'_>, why: impl FnOnce(Detail) -> ValidationError) {
        if self.errors.len() < MAX_ERRORS
            // Without steps left nothing was found out, and nothing more is looked at.
            && !self.check.budget.is_exhausted()
        {
            let mut error = why(self.detail);
            error.pointer = truncate_message(location.pointer());
            let is_same = |other: &ValidationError| {
                other.pointer == error.pointer && other.message == error.message
            };
            // Several schemas may say the same.
            if !self.errors.iter().any(is_same) {
                self.errors.push(error);
            }
        }
    }

    fn explain_keyword(
        &mut self,
        keyword: &'a Keyword,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match (keyword, value) {
            (Keyword::Whole(whole), _) => self.explain_whole(*whole, value, location),
            (Keyword::Ref(node), _) => self.explain(*node, value, location),
            (Keyword::DynamicRef { target, candidates }, _) => {
                let node = self.check.dynamic_target(*target, candidates);
                self.explain(node, value, location)
            }
            (Keyword::AllOf(nodes), _) => {
                self.all(nodes, |this, node| this.explain(*node, value, location))
            }
            (Keyword::AnyOf(nodes), _) => self.explain_any_of(nodes, value, location),
            (Keyword::OneOf(nodes), _) => self.explain_one_of(nodes, value, location),
            (Keyword::OneOfWithOptions { nodes, exact }, _) => {
                self.explain_one_of_with_options(nodes, exact, value, location)
            }
            (Keyword::Not(node, schema), _) => {
                let is_met = !self.check.is_valid(*node, value);
                self.require(is_met, location, |detail| {
                    let message = format!("{schema} is not allowed for {}", TruncatedJson(value));
                    detail.error(message, || (Kind::Forbidden, "anything else".to_owned()))
                })
            }
            (
                Keyword::If {
                    condition,
                    then,
                    otherwise,
                },
                _,
            ) => {
                let branch = self.check.branch(*condition, [*then, *otherwise], value);
                branch.is_none_or(|node| self.explain(node, value, location))
            }
            (_, Value::Array(items)) => self.explain_array(keyword, items, value, location),
            (_, Value::Object(members)) => self.explain_object(keyword, members, value, location),
            _ => true,
        }
    }

    /// Explains all schemas for a value, with options.
    fn explain_whole(
        &mut self,
        whole: WholeKeyword,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let outer = self.check.whole.replace(whole.part);
        let schema = &self.check.compiled.nodes[whole.part];
        let mut is_valid = self.explain_each(schema, value, location);
        if whole.rejects_undeclared {
            is_valid &= self.explain_undeclared(whole.part, value, location);
        }
        self.check.whole = outer;
        is_valid
    }

    fn explain_array(
        &mut self,
        keyword: &'a Keyword,
        items: &[Value],
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let indexed = || items.iter().enumerate();
        match keyword {
            Keyword::PrefixItems(nodes) => self
                .all(indexed().zip(nodes), |this, ((at, item), node)| {
                    this.explain(*node, item, &Location::Item(location, at))
                }),
            Keyword::Items(from, node) => self.all(indexed().skip(*from), |this, (at, item)| {
                this.explain(*node, item, &Location::Item(location, at))
            }),
            Keyword::Contains { node, min, max } => {
                let count = self.check.count_valid(*node, items);
                let is_met = count >= *min && max.is_none_or(|max| count <= max);
                self.require(is_met, location, |detail| {
                    wrong_contents(count, value, detail)
                })
            }
            Keyword::UnevaluatedItems { parent, node } => {
                let known = self.check.evaluated(*parent, value);
                let others = indexed().filter(|(at, _)| !known.contains_item(*at));
                let others: Vec<_> = others.collect();
                if self.check.compiled.nodes[*node].is_never() {
                    return self.require(others.is_empty(), location, |detail| {
                        let what = "Unevaluated items are not allowed";
                        let message = format!("{what} ({} of {})", others.len(), items.len());
                        detail.error(message, || (Kind::Forbidden, "no such items".to_owned()))
                    });
                }
                self.all(others, |this, (at, item)| {
                    this.explain(*node, item, &Location::Item(location, at))
                })
            }
            _ => true,
        }
    }
}

/// The error for an array in which too few or too many items match a schema.
fn wrong_contents(matches: u64, value: &Value, detail: Detail) -> ValidationError {
    let value = TruncatedJson(value);
    let message = if matches == 0 {
        format!("None of {value} are valid under the given schema")
    } else {
        let range = "as many as it should be";
        format!("{matches} of {value} are valid under the given schema, not {range}")
    };
    detail.error(message, || (Kind::Other, "other items".to_owned()))
}
