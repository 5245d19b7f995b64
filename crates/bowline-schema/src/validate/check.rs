//! Checking a value against a compiled schema.

use std::{collections::HashMap, mem};

use serde_json::Value;

use super::{
    ValidationError,
    budget::{CheckBudget, MAX_DEPTH},
    compile::Compiled,
    display::{TruncatedJson, truncate_message},
    error_kind::ValidationErrorKind as Kind,
    keyword::{Keyword, Node, ValueKeyword, WholeKeyword, to_u64},
    location::Location,
    pattern::Pattern,
    resources::ResourceId,
};

/// The maximum number of errors that are collected.
pub(super) const MAX_ERRORS: usize = 16;

/// One check of a value.
pub(super) struct Check<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) budget: &'a CheckBudget,
    pub(super) depth: u32,
    /// The resources that were entered on the way here, the outermost first. Empty
    /// if there are no dynamic references.
    scope: Vec<ResourceId>,
    /// The first of all schemas for the current value, if there are options that ask.
    pub(super) whole: Option<Node>,
    /// Whether to collect all errors. Otherwise the check ends at the first
    /// one.
    pub(super) collects_all: bool,
    pub(super) errors: Vec<ValidationError>,
}

impl<'a> Check<'a> {
    /// Creates a check that only determines whether a value is valid.
    pub(super) fn fail_fast(compiled: &'a Compiled, budget: &'a CheckBudget) -> Self {
        Self {
            compiled,
            budget,
            depth: 0,
            scope: Vec::new(),
            whole: None,
            collects_all: false,
            errors: Vec::new(),
        }
    }

    /// Creates a check that collects errors.
    pub(super) fn collect_all(compiled: &'a Compiled, budget: &'a CheckBudget) -> Self {
        Self {
            collects_all: true,
            ..Self::fail_fast(compiled, budget)
        }
    }

    pub(super) fn check_root(&mut self, value: &Value) -> bool {
        self.check_node(0, value, &Location::Root)
    }

    pub(super) fn check_node(
        &mut self,
        node: Node,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let keywords = &self.compiled.nodes[node];
        if self.depth >= MAX_DEPTH {
            self.budget.exhaust();
        }
        if !self.budget.spend(1 + to_u64(keywords.len())) {
            return false;
        }
        let entered = self.enter(node);
        let is_valid = self.all(keywords, |check, keyword| match keyword {
            // Most keywords, without the stack frame that the others need.
            Keyword::Value(keyword) => check.check_value(keyword, value, location),
            _ => check.check_keyword(keyword, value, location),
        });
        self.leave(entered);
        is_valid
    }

    #[inline]
    fn check_value(
        &mut self,
        keyword: &ValueKeyword,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let is_met = match keyword {
            ValueKeyword::Types(types) => types.iter().any(|kind| kind.matches(value)),
            _ => self.budget.spend(keyword.cost(value)) && keyword.is_met(value),
        };
        self.require(is_met, location, || keyword.violation(value))
    }

    /// Enters a schema, and returns whether that entered another resource.
    pub(super) fn enter(&mut self, node: Node) -> bool {
        self.depth += 1;
        let resource = self.compiled.resources.get(node);
        let is_other = resource.is_some() && resource != self.scope.last();
        self.scope.extend(resource.filter(|_| is_other));
        is_other
    }

    pub(super) fn leave(&mut self, entered_resource: bool) {
        self.depth -= 1;
        if entered_resource {
            self.scope.pop();
        }
    }

    /// Returns the schema that a dynamic reference leads to from here.
    pub(super) fn dynamic_target(
        &self,
        target: Node,
        candidates: &HashMap<ResourceId, Node>,
    ) -> Node {
        self.budget.spend(to_u64(self.scope.len()));
        let mut outermost = self.scope.iter().filter_map(|it| candidates.get(it));
        outermost.next().copied().unwrap_or(target)
    }

    /// Returns whether a string matches.
    pub(super) fn matches(&self, pattern: &Pattern, text: &str) -> bool {
        self.budget.spend(pattern.cost(text)) && pattern.is_match(text)
    }

    /// Returns whether a value is valid, without collecting errors.
    pub(super) fn is_valid(&mut self, node: Node, value: &Value) -> bool {
        let collects_all = mem::replace(&mut self.collects_all, false);
        let is_valid = self.check_node(node, value, &Location::Root);
        self.collects_all = collects_all;
        is_valid
    }

    /// Returns whether all are valid. Continues after the first invalid one if
    /// errors are collected and the maximum is not reached.
    pub(super) fn all<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut is_valid_item: impl FnMut(&mut Self, T) -> bool,
    ) -> bool {
        let mut all = true;
        for item in items {
            all &= is_valid_item(self, item);
            let enough = !self.collects_all || self.errors.len() >= MAX_ERRORS;
            if !all && (enough || self.budget.is_exhausted()) {
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
        why: impl FnOnce() -> ValidationError,
    ) -> bool {
        if !is_met && self.collects_all {
            self.report(location, why);
        }
        is_met
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, location: &Location<'_>, why: impl FnOnce() -> ValidationError) {
        if self.errors.len() < MAX_ERRORS
            // Without steps left nothing was found out, and nothing more is looked at.
            && !self.budget.is_exhausted()
        {
            let pointer = truncate_message(location.pointer());
            let error = ValidationError { pointer, ..why() };
            let is_same = |other: &ValidationError| {
                other.pointer == error.pointer && other.message == error.message
            };
            // Several schemas may say the same.
            if !self.errors.iter().any(is_same) {
                self.errors.push(error);
            }
        }
    }

    fn check_keyword(
        &mut self,
        keyword: &'a Keyword,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match (keyword, value) {
            (Keyword::Value(keyword), _) => self.check_value(keyword, value, location),
            (Keyword::Whole(whole), _) => self.check_whole(*whole, value, location),
            (Keyword::Ref(node), _) => self.check_node(*node, value, location),
            (Keyword::DynamicRef { target, candidates }, _) => {
                let node = self.dynamic_target(*target, candidates);
                self.check_node(node, value, location)
            }
            (Keyword::AllOf(nodes), _) => self.all(nodes, |check, node| {
                check.check_node(*node, value, location)
            }),
            (Keyword::AnyOf(nodes), _) => self.check_any_of(nodes, value, location),
            (Keyword::OneOf(nodes), _) => self.check_one_of(nodes, value, location),
            (Keyword::OneOfWithOptions { nodes, exact }, _) => {
                self.check_one_of_with_options(nodes, exact, value, location)
            }
            (Keyword::Not(node, schema), _) => {
                let is_met = !self.is_valid(*node, value);
                self.require(is_met, location, || {
                    let message = format!("{schema} is not allowed for {}", TruncatedJson(value));
                    ValidationError::new(Kind::Forbidden, message, "anything else")
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
                let branch = if self.is_valid(*condition, value) {
                    then
                } else {
                    otherwise
                };
                branch.is_none_or(|node| self.check_node(node, value, location))
            }
            (_, Value::Array(items)) => self.check_array(keyword, items, value, location),
            (_, Value::Object(members)) => self.check_object(keyword, members, value, location),
            _ => true,
        }
    }

    /// Checks a value against all schemas for it, with options.
    fn check_whole(&mut self, whole: WholeKeyword, value: &Value, location: &Location<'_>) -> bool {
        let keywords = &self.compiled.nodes[whole.part];
        if !self.budget.spend(to_u64(keywords.len())) {
            return false;
        }
        let outer = self.whole.replace(whole.part);
        let mut is_valid = self.all(keywords, |check, keyword| {
            check.check_keyword(keyword, value, location)
        });
        if let Value::Object(members) = value
            && whole.rejects_undeclared
            && (is_valid || self.collects_all)
        {
            is_valid &= self.check_undeclared(whole.part, members, value, location);
        }
        self.whole = outer;
        is_valid
    }

    fn check_array(
        &mut self,
        keyword: &'a Keyword,
        items: &[Value],
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let indexed = || items.iter().enumerate();
        match keyword {
            Keyword::PrefixItems(nodes) => {
                self.all(indexed().zip(nodes), |check, ((at, item), node)| {
                    check.check_node(*node, item, &Location::Item(location, at))
                })
            }
            Keyword::Items(from, node) => self.all(indexed().skip(*from), |check, (at, item)| {
                check.check_node(*node, item, &Location::Item(location, at))
            }),
            Keyword::Contains { node, min, max } => {
                let is_match = |item: &&Value| self.is_valid(*node, item);
                let matches = to_u64(items.iter().filter(is_match).count());
                let is_met = matches >= *min && max.is_none_or(|max| matches <= max);
                self.require(is_met, location, || wrong_contents(matches, value))
            }
            Keyword::UnevaluatedItems { parent, node } => {
                let known = self.evaluated(*parent, value);
                let others = indexed().filter(|(at, _)| !known.contains_item(*at));
                let others: Vec<_> = others.collect();
                if self.is_never(*node) {
                    return self.require(others.is_empty(), location, || {
                        let what = "Unevaluated items are not allowed";
                        let message = format!("{what} ({} of {})", others.len(), items.len());
                        ValidationError::new(Kind::Forbidden, message, "no such items")
                    });
                }
                self.all(others, |check, (at, item)| {
                    check.check_node(*node, item, &Location::Item(location, at))
                })
            }
            _ => true,
        }
    }
}

/// The error for an array in which too few or too many items match a schema.
fn wrong_contents(matches: u64, value: &Value) -> ValidationError {
    let value = TruncatedJson(value);
    let message = if matches == 0 {
        format!("None of {value} are valid under the given schema")
    } else {
        let range = "as many as it should be";
        format!("{matches} of {value} are valid under the given schema, not {range}")
    };
    ValidationError::new(Kind::Other, message, "other items")
}
