//! Checking a value against a compiled schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    ValidationError,
    budget::CheckBudget,
    compile::Compiled,
    display::{TruncatedJson, truncate_message},
    keyword::{Keyword, Node, ValueKeyword, to_u64},
    pattern::Pattern,
    resources::{ResourceId, escape_token},
};

/// The maximum number of errors that are collected.
pub(super) const MAX_ERRORS: usize = 16;

/// The maximum number of unexpected members that are listed.
const MAX_LISTED_NAMES: usize = 8;

/// How deep schemas may be applied within each other. JSON is 128 levels deep at
/// most, as far as `serde_json` reads it. A check that would go deeper ends as one
/// that exceeds its budget, before the stack does.
const MAX_DEPTH: u32 = 512;

/// One check of a value.
pub(super) struct Check<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) budget: &'a CheckBudget,
    depth: u32,
    /// The resources that were entered on the way here, the outermost first. Empty
    /// if there are no dynamic references.
    scope: Vec<ResourceId>,
    /// Whether to collect all errors. Otherwise the check ends at the first
    /// one.
    collects_all: bool,
    pub(super) errors: Vec<ValidationError>,
}

/// The path to a value within the checked one.
enum Location<'a> {
    Root,
    Member(&'a Location<'a>, &'a str),
    Item(&'a Location<'a>, usize),
}

impl<'a> Check<'a> {
    /// Creates a check that only determines whether a value is valid.
    pub(super) fn fail_fast(compiled: &'a Compiled, budget: &'a CheckBudget) -> Self {
        Self {
            compiled,
            budget,
            depth: 0,
            scope: Vec::new(),
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

    /// Creates a check within this one that only determines whether a value is
    /// valid.
    pub(super) fn nested(&self) -> Self {
        Self {
            depth: self.depth,
            scope: self.scope.clone(),
            ..Self::fail_fast(self.compiled, self.budget)
        }
    }

    pub(super) fn check_root(&mut self, value: &Value) -> bool {
        self.check_node(0, value, &Location::Root)
    }

    fn check_node(&mut self, node: Node, value: &Value, location: &Location<'_>) -> bool {
        let keywords = &self.compiled.nodes[node];
        if self.depth >= MAX_DEPTH {
            self.budget.exhaust();
        }
        if !self.budget.spend(1 + to_u64(keywords.len())) {
            return false;
        }
        let entered = self.enter(node);
        let is_valid = self.all(keywords, |check, keyword| {
            check.check_keyword(keyword, value, location)
        });
        self.leave(entered);
        is_valid
    }

    /// Enters a schema, and returns whether that entered another resource.
    pub(super) fn enter(&mut self, node: Node) -> bool {
        self.depth += 1;
        let resource = self.compiled.resources.get(node);
        let is_other = resource.is_some() && resource != self.scope.last();
        self.scope.extend(resource.filter(|_| is_other));
        is_other
    }

    fn leave(&mut self, entered_resource: bool) {
        self.depth -= 1;
        if entered_resource {
            self.scope.pop();
        }
    }

    /// Returns the schema that a dynamic reference leads to from here.
    pub(super) fn dynamic_target(&self, target: Node, candidates: &[(ResourceId, Node)]) -> Node {
        let of_resource = |resource: &ResourceId| {
            let mut candidates = candidates.iter();
            candidates.find(|(candidate, _)| candidate == resource)
        };
        let outermost = self.scope.iter().find_map(of_resource);
        outermost.map_or(target, |(_, node)| *node)
    }

    /// Returns whether a string matches.
    pub(super) fn matches(&self, pattern: &Pattern, text: &str) -> bool {
        self.budget.spend(pattern.cost(text)) && pattern.is_match(text)
    }

    /// Returns whether a value is valid, without collecting errors.
    pub(super) fn is_valid(&self, node: Node, value: &Value) -> bool {
        self.nested().check_node(node, value, &Location::Root)
    }

    /// Returns whether all are valid. Continues after the first invalid one if
    /// errors are collected and the maximum is not reached.
    fn all<T>(
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

    fn require(
        &mut self,
        is_met: bool,
        location: &Location<'_>,
        why: impl FnOnce() -> String,
    ) -> bool {
        if !is_met && self.collects_all && self.errors.len() < MAX_ERRORS {
            self.errors.push(ValidationError {
                pointer: truncate_message(location.pointer()),
                message: why(),
            });
        }
        is_met
    }

    fn check_keyword(&mut self, keyword: &Keyword, value: &Value, location: &Location<'_>) -> bool {
        match (keyword, value) {
            (Keyword::Value(value_keyword), _) => {
                let is_met =
                    self.budget.spend(value_keyword.cost(value)) && value_keyword.is_met(value);
                self.require(is_met, location, || value_keyword.message(value))
            }
            (Keyword::Ref(node), _) => self.check_node(*node, value, location),
            (Keyword::DynamicRef { target, candidates }, _) => {
                let node = self.dynamic_target(*target, candidates);
                self.check_node(node, value, location)
            }
            (Keyword::AllOf(nodes), _) => self.all(nodes, |check, node| {
                check.check_node(*node, value, location)
            }),
            (Keyword::AnyOf(nodes), _) => {
                let is_met = nodes.iter().any(|node| self.is_valid(*node, value));
                self.require(is_met, location, || none_of("anyOf", value))
            }
            (Keyword::OneOf(nodes), _) => self.check_one_of(nodes, value, location),
            (Keyword::Not(node, schema), _) => {
                let is_met = !self.is_valid(*node, value);
                self.require(is_met, location, || {
                    format!(
                        "{} is not allowed for {}",
                        TruncatedJson(schema),
                        TruncatedJson(value)
                    )
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

    fn check_one_of(&mut self, nodes: &[Node], value: &Value, location: &Location<'_>) -> bool {
        let mut valid = nodes.iter().filter(|node| self.is_valid(**node, value));
        let (first, second) = (valid.next().is_some(), valid.next().is_some());
        drop(valid);
        self.require(first && !second, location, || {
            if first {
                let kind = "is valid under more than one of the schemas listed in the 'oneOf'";
                format!("{} {kind} keyword", TruncatedJson(value))
            } else {
                none_of("oneOf", value)
            }
        })
    }

    fn check_array(
        &mut self,
        keyword: &Keyword,
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
                let valid_count = items
                    .iter()
                    .filter(|item| self.is_valid(*node, item))
                    .count();
                let valid_count = to_u64(valid_count);
                let is_met = valid_count >= *min && max.is_none_or(|max| valid_count <= max);
                self.require(is_met, location, || {
                    let value = TruncatedJson(value);
                    if valid_count == 0 {
                        format!("None of {value} are valid under the given schema")
                    } else {
                        let range = "as many as it should be";
                        format!(
                            "{valid_count} of {value} are valid under the given schema, not {range}"
                        )
                    }
                })
            }
            Keyword::UnevaluatedItems { parent, node } => {
                let known = self.evaluated(*parent, value);
                let others = indexed().filter(|(at, _)| !known.contains_item(*at));
                let others: Vec<_> = others.collect();
                if self.is_never(*node) {
                    return self.require(others.is_empty(), location, || {
                        let what = "Unevaluated items are not allowed";
                        format!("{what} ({} of {})", others.len(), items.len())
                    });
                }
                self.all(others, |check, (at, item)| {
                    check.check_node(*node, item, &Location::Item(location, at))
                })
            }
            _ => true,
        }
    }

    fn check_object(
        &mut self,
        keyword: &Keyword,
        members: &Map<String, Value>,
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match keyword {
            Keyword::DependentSchemas(nodes) | Keyword::Properties(nodes)
                if !self.budget.spend(to_u64(nodes.len())) =>
            {
                false
            }
            Keyword::DependentSchemas(nodes) => self.all(nodes, |check, (name, node)| {
                !members.contains_key(name) || check.check_node(*node, value, location)
            }),
            Keyword::Properties(nodes) => self.all(nodes, |check, (name, node)| {
                let member = members.get(name);
                member.is_none_or(|member| {
                    check.check_node(*node, member, &Location::Member(location, name))
                })
            }),
            Keyword::PatternProperties(nodes) => self.all(nodes, |check, (pattern, node)| {
                check.all(members, |check, (name, member)| {
                    !check.matches(pattern, name)
                        || check.check_node(*node, member, &Location::Member(location, name))
                })
            }),
            Keyword::Additional {
                named,
                patterns,
                node,
            } => {
                let others = members.iter().filter(|(name, _)| {
                    self.budget.spend(1)
                        && !named.contains(*name)
                        && !patterns.iter().any(|it| self.matches(it, name))
                });
                self.check_additional("Additional", others.collect(), *node, location)
            }
            Keyword::UnevaluatedProperties { parent, node } => {
                let known = self.evaluated(*parent, value);
                let others = members
                    .iter()
                    .filter(|(name, _)| !known.contains_member(name));
                self.check_additional("Unevaluated", others.collect(), *node, location)
            }
            Keyword::PropertyNames(node) => self.all(members.keys(), |check, name| {
                check.check_node(*node, &Value::from(&**name), location)
            }),
            _ => true,
        }
    }

    /// Checks the members that are not described one by one.
    fn check_additional(
        &mut self,
        kind: &str,
        others: Vec<(&String, &Value)>,
        node: Node,
        location: &Location<'_>,
    ) -> bool {
        if self.is_never(node) {
            return self.require(others.is_empty(), location, || unexpected(kind, &others));
        }
        self.all(others, |check, (name, member)| {
            check.check_node(node, member, &Location::Member(location, name))
        })
    }

    /// Returns whether no value is valid for a schema.
    fn is_never(&self, node: Node) -> bool {
        let keywords = &self.compiled.nodes[node][..];
        matches!(keywords, [Keyword::Value(ValueKeyword::Never)])
    }
}

fn none_of(keyword: &str, value: &Value) -> String {
    let value = TruncatedJson(value);
    format!("{value} is not valid under any of the schemas listed in the '{keyword}' keyword")
}

/// Lists only the first members if there are many.
fn unexpected(kind: &str, members: &[(&String, &Value)]) -> String {
    let names = members.iter().take(MAX_LISTED_NAMES);
    let quoted: Vec<String> = names.map(|(name, _)| format!("'{name}'")).collect();
    let were = if members.len() == 1 { "was" } else { "were" };
    let mut quoted = truncate_message(quoted.join(", "));
    if let more @ 1.. = members.len().saturating_sub(MAX_LISTED_NAMES) {
        // Writing to a string cannot fail.
        let _ = write!(quoted, " and {more} more");
    }
    format!("{kind} properties are not allowed ({quoted} {were} unexpected)")
}

impl Location<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => {
                let name = escape_token(name);
                parent.pointer() + "/" + &name
            }
            Self::Item(parent, at) => {
                let mut pointer = parent.pointer();
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{at}");
                pointer
            }
        }
    }
}
