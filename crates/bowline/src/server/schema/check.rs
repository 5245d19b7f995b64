//! Holding a value against a schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    Fault, anchors,
    budget::Budget,
    keyword::{Keyword, Node, Own, count},
    pattern::Pattern,
    shown::{Shown, short},
};

/// How many faults are collected. Nobody is told of more.
pub(super) const MAX_FAULTS: usize = 16;

/// How many unexpected members are named.
const MAX_NAMED: usize = 8;

/// One look at a value.
pub(super) struct Check<'a> {
    pub(super) nodes: &'a [Vec<Keyword>],
    pub(super) budget: &'a Budget,
    /// Whether all faults are wanted. Otherwise the first one ends it.
    thorough: bool,
    pub(super) faults: Vec<Fault>,
}

/// The way to a value within the one that is looked at.
enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl<'a> Check<'a> {
    /// To know whether it fits.
    pub(super) fn quick(nodes: &'a [Vec<Keyword>], budget: &'a Budget) -> Self {
        Self {
            nodes,
            budget,
            thorough: false,
            faults: Vec::new(),
        }
    }

    /// To know what does not fit.
    pub(super) fn thorough(nodes: &'a [Vec<Keyword>], budget: &'a Budget) -> Self {
        Self {
            thorough: true,
            ..Self::quick(nodes, budget)
        }
    }

    pub(super) fn root(&mut self, value: &Value) -> bool {
        self.node(0, value, &Place::Root)
    }

    fn node(&mut self, node: Node, value: &Value, place: &Place<'_>) -> bool {
        let keywords = &self.nodes[node];
        if !self.budget.take(1 + count(keywords.len())) {
            return false;
        }
        self.all(keywords, |check, keyword| {
            check.keyword(keyword, value, place)
        })
    }

    /// Whether a text matches.
    pub(super) fn matches(&self, pattern: &Pattern, text: &str) -> bool {
        self.budget.take(pattern.cost(text)) && pattern.is_match(text)
    }

    /// Whether something fits, without a word about why not.
    pub(super) fn fits(&self, node: Node, value: &Value) -> bool {
        Check::quick(self.nodes, self.budget).node(node, value, &Place::Root)
    }

    /// Whether all fit. Goes on after the first that does not, if all faults
    /// are wanted and there is room for more.
    fn all<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut fits: impl FnMut(&mut Self, T) -> bool,
    ) -> bool {
        let mut all = true;
        for item in items {
            all &= fits(self, item);
            let enough = !self.thorough || self.faults.len() >= MAX_FAULTS;
            if !all && (enough || self.budget.is_spent()) {
                return false;
            }
        }
        all
    }

    fn require(&mut self, met: bool, place: &Place<'_>, why: impl FnOnce() -> String) -> bool {
        if !met && self.thorough && self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault {
                place: short(place.pointer()),
                message: why(),
            });
        }
        met
    }

    fn keyword(&mut self, keyword: &Keyword, value: &Value, place: &Place<'_>) -> bool {
        match (keyword, value) {
            (Keyword::Own(own), _) => {
                let met = self.budget.take(own.cost(value)) && own.is_met(value);
                self.require(met, place, || own.complaint(value))
            }
            (Keyword::Ref(node), _) => self.node(*node, value, place),
            (Keyword::AllOf(nodes), _) => {
                self.all(nodes, |check, node| check.node(*node, value, place))
            }
            (Keyword::AnyOf(nodes), _) => {
                let met = nodes.iter().any(|node| self.fits(*node, value));
                self.require(met, place, || none_of("anyOf", value))
            }
            (Keyword::OneOf(nodes), _) => self.one_of(nodes, value, place),
            (Keyword::Not(node, schema), _) => {
                let met = !self.fits(*node, value);
                self.require(met, place, || {
                    format!("{} is not allowed for {}", Shown(schema), Shown(value))
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
                let branch = if self.fits(*condition, value) {
                    then
                } else {
                    otherwise
                };
                branch.is_none_or(|node| self.node(node, value, place))
            }
            (_, Value::Array(items)) => self.array(keyword, items, value, place),
            (_, Value::Object(members)) => self.object(keyword, members, value, place),
            _ => true,
        }
    }

    fn one_of(&mut self, nodes: &[Node], value: &Value, place: &Place<'_>) -> bool {
        let mut fitting = nodes.iter().filter(|node| self.fits(**node, value));
        let (first, second) = (fitting.next().is_some(), fitting.next().is_some());
        drop(fitting);
        self.require(first && !second, place, || {
            if first {
                let which = "is valid under more than one of the schemas listed in the 'oneOf'";
                format!("{} {which} keyword", Shown(value))
            } else {
                none_of("oneOf", value)
            }
        })
    }

    fn array(
        &mut self,
        keyword: &Keyword,
        items: &[Value],
        value: &Value,
        place: &Place<'_>,
    ) -> bool {
        let indexed = || items.iter().enumerate();
        match keyword {
            Keyword::PrefixItems(nodes) => self
                .all(indexed().zip(nodes), |check, ((at, item), node)| {
                    check.node(*node, item, &Place::Item(place, at))
                }),
            Keyword::Items(from, node) => self.all(indexed().skip(*from), |check, (at, item)| {
                check.node(*node, item, &Place::Item(place, at))
            }),
            Keyword::Contains { node, least, most } => {
                let fitting = items.iter().filter(|item| self.fits(*node, item)).count();
                let fitting = count(fitting);
                let met = fitting >= *least && most.is_none_or(|most| fitting <= most);
                self.require(met, place, || {
                    let value = Shown(value);
                    if fitting == 0 {
                        format!("None of {value} are valid under the given schema")
                    } else {
                        let range = "as many as it should be";
                        format!(
                            "{fitting} of {value} are valid under the given schema, not {range}"
                        )
                    }
                })
            }
            _ => true,
        }
    }

    fn object(
        &mut self,
        keyword: &Keyword,
        members: &Map<String, Value>,
        value: &Value,
        place: &Place<'_>,
    ) -> bool {
        match keyword {
            Keyword::DependentSchemas(nodes) | Keyword::Properties(nodes)
                if !self.budget.take(count(nodes.len())) =>
            {
                false
            }
            Keyword::DependentSchemas(nodes) => self.all(nodes, |check, (name, node)| {
                !members.contains_key(name) || check.node(*node, value, place)
            }),
            Keyword::Properties(nodes) => self.all(nodes, |check, (name, node)| {
                let member = members.get(name);
                member.is_none_or(|member| check.node(*node, member, &Place::Member(place, name)))
            }),
            Keyword::PatternProperties(nodes) => self.all(nodes, |check, (pattern, node)| {
                check.all(members, |check, (name, member)| {
                    !check.matches(pattern, name)
                        || check.node(*node, member, &Place::Member(place, name))
                })
            }),
            Keyword::Additional {
                named,
                patterns,
                node,
            } => {
                let others = members.iter().filter(|(name, _)| {
                    self.budget.take(1)
                        && !named.contains(*name)
                        && !patterns.iter().any(|it| self.matches(it, name))
                });
                self.others("Additional", others.collect(), *node, place)
            }
            Keyword::Unevaluated { within, node } => {
                let known = self.evaluated(*within, members, value);
                let others = members.iter().filter(|(name, _)| !known.has(name));
                self.others("Unevaluated", others.collect(), *node, place)
            }
            Keyword::PropertyNames(node) => self.all(members.keys(), |check, name| {
                check.node(*node, &Value::from(&**name), place)
            }),
            _ => true,
        }
    }

    /// Members that are not described one by one.
    fn others(
        &mut self,
        which: &str,
        others: Vec<(&String, &Value)>,
        node: Node,
        place: &Place<'_>,
    ) -> bool {
        if matches!(self.nodes[node][..], [Keyword::Own(Own::Never)]) {
            return self.require(others.is_empty(), place, || unexpected(which, &others));
        }
        self.all(others, |check, (name, member)| {
            check.node(node, member, &Place::Member(place, name))
        })
    }
}

fn none_of(keyword: &str, value: &Value) -> String {
    let value = Shown(value);
    format!("{value} is not valid under any of the schemas listed in the '{keyword}' keyword")
}

/// Names the first members only, where there are many.
fn unexpected(which: &str, members: &[(&String, &Value)]) -> String {
    let names = members.iter().take(MAX_NAMED);
    let quoted: Vec<String> = names.map(|(name, _)| format!("'{name}'")).collect();
    let were = if members.len() == 1 { "was" } else { "were" };
    let mut quoted = short(quoted.join(", "));
    if let more @ 1.. = members.len().saturating_sub(MAX_NAMED) {
        // Writing to a string cannot fail.
        let _ = write!(quoted, " and {more} more");
    }
    format!("{which} properties are not allowed ({quoted} {were} unexpected)")
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => {
                let name = anchors::step(name);
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
