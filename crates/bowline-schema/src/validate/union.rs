//! Alternatives: whether a value matches one, and which one is meant if not.

use serde_json::{Map, Value};

use super::{
    ValidationError,
    budget::value_cost,
    display::{TruncatedJson, quoted},
    equal::json_equal,
    error::Detail,
    error_kind::ValidationErrorKind as Kind,
    explain::Explanation,
    keyword::Node,
    location::Location,
    violation::{missing_member, not_a_choice},
};

/// The alternative that a value is meant to match.
enum Meant<'a> {
    /// This one.
    Alternative(Node),
    /// One of those that this member tells apart, by these values. The value has
    /// another, or lacks the member.
    OneTagged {
        name: &'a str,
        choices: Vec<&'a Value>,
    },
    Unclear,
}

/// An alternative for an object, and how the object's members compare with those that
/// can only have one value.
struct Tagged<'a> {
    node: Node,
    tags: Vec<(&'a str, &'a Value)>,
    agreements: usize,
    contradictions: usize,
}

impl<'a> Explanation<'a> {
    pub(super) fn explain_any_of(
        &mut self,
        nodes: &'a [Node],
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let is_met = nodes.iter().any(|node| self.check.is_valid(*node, value));
        if !is_met {
            self.explain_mismatch(nodes, value, location);
        }
        is_met
    }

    pub(super) fn explain_one_of(
        &mut self,
        nodes: &'a [Node],
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        let [first, second] = self.check.first_valid(nodes, value);
        if first.is_none() {
            self.explain_mismatch(nodes, value, location);
            return false;
        }
        self.require(second.is_none(), location, |detail| {
            let kind = "is valid under more than one of the schemas listed in the 'oneOf'";
            let message = format!("{} {kind} keyword", TruncatedJson(value));
            let expected = || "only one of the alternatives".to_owned();
            detail.error(message, || (Kind::SeveralAlternatives, expected()))
        })
    }

    /// Checks alternatives under options. Whether there is only one is judged without
    /// them: options that accept more must not make a valid value ambiguous.
    pub(super) fn explain_one_of_with_options(
        &mut self,
        nodes: &'a [Node],
        exact: &'a [Node],
        value: &Value,
        location: &Location<'_>,
    ) -> bool {
        match self.check.first_valid(exact, value) {
            [None, _] => self.explain_any_of(nodes, value, location),
            [Some(only), None] => self.explain(nodes[only], value, location),
            [Some(_), Some(_)] => self.explain_one_of(exact, value, location),
        }
    }

    /// Reports why a value matches no alternative: what is wrong by the one that is
    /// meant, or else which ones there are.
    fn explain_mismatch(&mut self, nodes: &'a [Node], value: &Value, location: &Location<'_>) {
        let compiled = self.check.compiled;
        let choices: Option<Vec<&[Value]>> =
            nodes.iter().map(|node| compiled.choices(*node)).collect();
        let choices: Option<Vec<&Value>> =
            choices.map(|choices| choices.into_iter().flatten().collect());
        if let Some(choices) = choices.filter(|choices| !self.is_among(choices, value)) {
            self.require(false, location, |detail| {
                not_a_choice(&choices.iter().copied(), value, detail)
            });
            return;
        }
        match self.meant(nodes, value) {
            Meant::Alternative(node) => {
                self.explain(node, value, location);
            }
            Meant::OneTagged { name, choices } => match value.get(name) {
                Some(tag) => {
                    let location = Location::Member(location, name);
                    self.require(false, &location, |detail| {
                        not_a_choice(&choices.iter().copied(), tag, detail)
                    });
                }
                None => {
                    self.require(false, location, |detail| {
                        missing_tag(name, &choices, detail)
                    });
                }
            },
            Meant::Unclear => {
                self.require(false, location, |detail| {
                    let expected = compiled.expectation_of_any(nodes);
                    let value = TruncatedJson(value);
                    let message = format!("{value} matches none of the alternatives: {expected}");
                    detail.error(message, || (Kind::NoAlternative, expected))
                });
            }
        }
    }

    fn meant(&self, nodes: &'a [Node], value: &Value) -> Meant<'a> {
        let allows_type = |node: &Node| self.check.compiled.allows_type(*node, value);
        let possible: Vec<Node> = nodes.iter().copied().filter(allows_type).collect();
        match (&possible[..], value) {
            ([only], _) => Meant::Alternative(*only),
            (_, Value::Object(members)) => self.meant_by_tags(&possible, members),
            _ => Meant::Unclear,
        }
    }

    /// Returns the only alternative that no member contradicts, or that one agrees with.
    fn meant_by_tags(&self, possible: &[Node], members: &Map<String, Value>) -> Meant<'a> {
        let alternatives = possible.iter().map(|node| self.tagged(*node, members));
        let alternatives: Vec<Tagged<'_>> = alternatives.collect();
        let open = alternatives.iter().filter(|it| it.contradictions == 0);
        let agreeing = open.clone().filter(|it| it.agreements > 0);
        if let Some(only) = only(open.clone()).or_else(|| only(agreeing)) {
            return Meant::Alternative(only.node);
        }
        let Some((first, others)) = alternatives.split_first() else {
            return Meant::Unclear;
        };
        for (name, tag) in &first.tags {
            let tags: Option<Vec<&Value>> = others.iter().map(|it| it.tag(name)).collect();
            let Some(others) = tags else {
                continue;
            };
            let choices = [&[*tag][..], &others].concat();
            let is_wrong = match members.get(*name) {
                Some(given) => !self.is_among(&choices, given),
                None => possible
                    .iter()
                    .all(|it| self.check.compiled.requires(*it, name)),
            };
            if is_wrong {
                return Meant::OneTagged { name, choices };
            }
        }
        Meant::Unclear
    }

    fn is_among(&self, choices: &[&Value], value: &Value) -> bool {
        let is_same = |choice: &&Value| {
            self.check.budget.spend(value_cost(choice)) && json_equal(choice, value)
        };
        choices.iter().any(is_same)
    }

    fn tagged(&self, node: Node, members: &Map<String, Value>) -> Tagged<'a> {
        let compiled = self.check.compiled;
        let tags = compiled.members(node).filter_map(|(name, member)| {
            self.check.budget.spend(1);
            Some((name, compiled.only_choice(member)?))
        });
        let tags: Vec<_> = tags.collect();
        let given = tags.iter().filter_map(|(name, tag)| {
            let given = members.get(*name)?;
            Some(self.is_among(&[*tag], given))
        });
        let given: Vec<bool> = given.collect();
        let agreements = given.iter().filter(|agrees| **agrees).count();
        Tagged {
            node,
            tags,
            agreements,
            contradictions: given.len() - agreements,
        }
    }
}

impl<'a> Tagged<'a> {
    fn tag(&self, name: &str) -> Option<&'a Value> {
        let found = self.tags.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| *value)
    }
}

/// Returns the only item.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    first.filter(|_| items.next().is_none())
}

fn missing_tag(name: &str, choices: &[&Value], detail: Detail) -> ValidationError {
    let one = not_a_choice(&choices.iter().copied(), &Value::Null, Detail::All);
    let message = format!("{} is a required property: {}", quoted(name), one.expected);
    let error = missing_member(name, detail, || one.expected);
    ValidationError { message, ..error }
}
