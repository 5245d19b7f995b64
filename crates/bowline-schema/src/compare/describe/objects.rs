//! The members of objects.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    super::{
        document::Node,
        findings::Place,
        prover::{Mode, named, other_members},
        report::Usage,
    },
    Change, Pair, Part, Scope, Walk,
    path::Path,
    place_of,
};

/// What a schema says about members that it does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Forbidden,
    Any,
    Restricted,
}

impl<'a> Walk<'a> {
    /// Describes changes of the members of objects.
    pub(super) fn describe_members(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(property_names);
        let [in_old, in_new] = [&old, &new].map(|it| it.iter().copied().collect::<HashSet<_>>());
        self.describe_required(pair, &in_old, &in_new, scope);
        for name in &new {
            match in_old.contains(name) {
                true => self.describe_member(pair, name, scope),
                false => self.describe_added(pair, name, scope),
            }
        }
        for name in old.iter().filter(|name| !in_new.contains(*name)) {
            self.describe_removed(pair, name, scope);
        }
        self.describe_patterns(pair, scope);
        self.describe_others(pair, scope);
    }

    fn describe_member(&mut self, pair: Pair<'_, 'a>, name: &str, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| {
            let member = self.prover.member(&part.view, name);
            self.part(&member.nodes, part.place)
        });
        let path = Path::Member(scope.path, name);
        let pair = Pair {
            old: &old,
            new: &new,
        };
        self.describe(pair, &path, scope);
    }

    /// Describes which members became required, or are no longer. Members that were
    /// added or removed are described as such.
    fn describe_required(
        &mut self,
        pair: Pair<'_, 'a>,
        in_old: &HashSet<&str>,
        in_new: &HashSet<&str>,
        scope: Scope<'_>,
    ) {
        if scope.verdict.is_same() {
            return;
        }
        for (name, place) in required(pair.new) {
            let is_added = in_new.contains(name) && !in_old.contains(name);
            if !is_added && !self.prover.is_required(&pair.old.view, name) {
                let message = format!("{} is now required", scope.path.member(name));
                self.add(Change::Narrower, place, message, scope);
            }
        }
        for (name, place) in required(pair.old) {
            let is_removed = in_old.contains(name) && !in_new.contains(name);
            if !is_removed && !self.prover.is_required(&pair.new.view, name) {
                let message = format!("{} is no longer required", scope.path.member(name));
                self.add(Change::Wider, place, message, scope);
            }
        }
    }

    fn describe_added(&mut self, pair: Pair<'_, 'a>, name: &str, scope: Scope<'_>) {
        let is_required = self.prover.is_required(&pair.new.view, name);
        let member = scope.path.member(name);
        let is_safe = match self.usage {
            Usage::Input => {
                let was_required = self.prover.is_required(&pair.old.view, name);
                (!is_required || was_required) && self.is_member_shown(pair, name)
            }
            Usage::Output => self.is_member_shown(pair, name),
        };
        let is_safe = is_safe || scope.is_shown;
        let message = match (self.usage, is_required) {
            (Usage::Input, true) if !is_safe => format!("{member} was added and is required"),
            (_, false) if is_safe => format!("{member} was added and is optional"),
            _ if is_safe => format!("{member} was added"),
            (Usage::Input, _) if pair.old.view.has_any(&["unevaluatedProperties"]) => {
                format!("{member} was added, which cannot be shown to be compatible")
            }
            (Usage::Input, _) => {
                format!("{member} was added, but other values were accepted for it before")
            }
            (Usage::Output, _) => format!("{member} was added, but was not allowed before"),
        };
        let place = property_place(pair.new, name);
        self.add_judged(is_safe, place, message);
    }

    fn describe_removed(&mut self, pair: Pair<'_, 'a>, name: &str, scope: Scope<'_>) {
        let was_required = self.prover.is_required(&pair.old.view, name);
        let is_required = self.prover.is_required(&pair.new.view, name);
        let member = scope.path.member(name);
        let is_kept = self.is_member_shown(pair, name);
        let is_safe = match self.usage {
            Usage::Input => is_kept,
            Usage::Output => is_kept && (!was_required || is_required),
        };
        let is_safe = is_safe || scope.is_shown;
        let message = match (self.usage, is_kept) {
            (Usage::Input, true) => {
                format!("{member} was removed; any value is still accepted for it")
            }
            (Usage::Input, false) => format!("{member} was removed and is no longer accepted"),
            (Usage::Output, _) if was_required => format!("{member} was removed, but was required"),
            (Usage::Output, true) => format!("{member} was removed; it was optional"),
            (Usage::Output, false) => {
                format!("{member} was removed, but other values are now allowed for it")
            }
        };
        let place = property_place(pair.old, name);
        self.add_judged(is_safe, place, message);
    }

    /// Returns whether it can be shown that a member is compatible.
    fn is_member_shown(&mut self, pair: Pair<'_, 'a>, name: &str) -> bool {
        let (sub, sup) = match self.usage {
            Usage::Input => (pair.old, pair.new),
            Usage::Output => (pair.new, pair.old),
        };
        let parts = self.prover.member(&sup.view, name).nodes;
        let mut parts = parts.into_iter();
        // Only a member that is named may be assumed to be absent.
        let mut properties = sup.view.all("properties");
        let is_named = properties.any(|(_, it)| it.get(name).is_some());
        parts.all(|part| {
            let mode = match is_named && !is_other_member(sup, part) {
                true => Mode::Practical,
                false => Mode::Strict,
            };
            self.prover.member_holds(&sub.view, name, part, mode)
        })
    }

    /// Describes the schemas of members by pattern.
    fn describe_patterns(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| {
            let nodes = part.view.nodes.iter();
            let all = nodes.flat_map(|node| {
                let patterns = named(*node, "patternProperties");
                patterns.map(|(pattern, it)| (pattern, *node, it))
            });
            all.collect::<Vec<_>>()
        });
        let mut is_changed = old.len() != new.len();
        for (pattern, node, value) in new {
            let Some((_, old_node, old)) = old.iter().find(|(it, ..)| *it == pattern) else {
                is_changed = true;
                continue;
            };
            let old = self.prover.child(*old_node, old);
            let new = self.prover.child(node, value);
            let old = self.part(&[old], pair.old.place);
            let new = self.part(&[new], pair.new.place);
            let path = Path::Others(scope.path);
            let pair = Pair {
                old: &old,
                new: &new,
            };
            self.describe(pair, &path, scope);
        }
        if is_changed && !scope.verdict.is_same() {
            // Members that no longer match are other members.
            let keywords = ["patternProperties", "additionalProperties"];
            self.describe_other(pair, &keywords, scope);
        }
    }

    /// Describes what is said about all other members.
    fn describe_others(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| self.others(part));
        let subject = scope.path.subject();
        let accepts = self.accepts();
        let (change, message) = match (others_of(&old), others_of(&new)) {
            (one, other) if one == other && one != Others::Restricted => return,
            (Others::Restricted, Others::Restricted) => {
                let old = self.part(&old, pair.old.place);
                let new = self.part(&new, pair.new.place);
                let path = Path::Others(scope.path);
                let pair = Pair {
                    old: &old,
                    new: &new,
                };
                return self.describe(pair, &path, scope);
            }
            (Others::Forbidden, _) => (
                Change::Wider,
                format!("{subject} now {accepts}s other members"),
            ),
            (_, Others::Forbidden) => (
                Change::Narrower,
                format!("{subject} no longer {accepts}s other members"),
            ),
            (Others::Restricted, _) => (
                Change::Wider,
                format!("other members of {subject} may now have any value"),
            ),
            (_, Others::Restricted) => (
                Change::Narrower,
                format!("other members of {subject} may no longer have any value"),
            ),
            (Others::Any, Others::Any) => return,
        };
        let nodes = if new.is_empty() { &old } else { &new };
        let place = nodes.first().map_or(pair.new.place, |it| super::place(*it));
        self.add(change, place, message, scope);
    }

    fn others(&self, part: &Part<'a>) -> Vec<Node<'a>> {
        let nodes = part.view.nodes.iter().filter_map(|node| {
            let (_, schema) = other_members(*node)?;
            Some(self.prover.child(*node, schema))
        });
        nodes.collect()
    }
}

fn others_of(nodes: &[Node<'_>]) -> Others {
    let is_any = |node: &Node<'_>| match node.value {
        Value::Bool(yes) => *yes,
        value => value.as_object().is_some_and(serde_json::Map::is_empty),
    };
    if nodes
        .iter()
        .any(|node| matches!(node.value, Value::Bool(false)))
    {
        return Others::Forbidden;
    }
    match nodes.iter().all(is_any) {
        true => Others::Any,
        false => Others::Restricted,
    }
}

/// Returns the names of the members that a part has schemas for, in their order.
fn property_names<'a>(part: &Part<'a>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let nodes = part.view.nodes.iter();
    let names = nodes.flat_map(|node| named(*node, "properties").map(|(name, _)| name));
    names.filter(|name| seen.insert(*name)).collect()
}

/// Returns whether a schema is one for members that are not named.
fn is_other_member<'a>(part: &Part<'a>, schema: Node<'a>) -> bool {
    let mut others = part
        .view
        .nodes
        .iter()
        .filter_map(|node| other_members(*node));
    others.any(|(_, it)| std::ptr::eq(it, schema.value))
}

/// Returns the required members, and where that is said.
fn required<'a>(part: &Part<'a>) -> Vec<(&'a str, Place<'a>)> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (node, list) in part.view.all("required") {
        for value in list.as_array().into_iter().flatten() {
            let name = value.as_str().filter(|name| seen.insert(*name));
            all.extend(name.map(|name| (name, place_of(node, value))));
        }
    }
    all
}

/// Returns where a member's schema is.
fn property_place<'a>(part: &Part<'a>, name: &str) -> Place<'a> {
    let mut properties = part.view.all("properties");
    let found = properties.find_map(|(node, it)| Some(place_of(node, it.get(name)?)));
    found.unwrap_or(part.place)
}
