//! Keywords about objects.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    super::{
        document::{Node, Target},
        kinds::Kinds,
    },
    Mode, Prover, View,
    arrays::IN_PLACE,
    is_trivial,
    numbers::limit,
};

/// Keywords that say something about members that are not named.
const ABOUT_OTHERS: [&str; 6] = [
    "additionalProperties",
    "maxProperties",
    "minProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
];

/// The maximum number of schemas in which a member's name is looked for.
const MAX_SEARCHED: usize = 1000;

/// What a view says about a member.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Member<'a> {
    /// The schemas that hold for it.
    pub(in super::super) nodes: Vec<Node<'a>>,
    /// Whether anything is said about it.
    pub(in super::super) is_mentioned: bool,
}

/// Returns the schema of the members that are neither named nor match a pattern, and
/// its keyword.
pub(in super::super) fn other_members(node: Node<'_>) -> Option<(&'static str, &Value)> {
    if let Some(schema) = node.get("additionalProperties") {
        return Some(("additionalProperties", schema));
    }
    // Without other keywords that evaluate members, this is the same.
    let is_simple = !IN_PLACE.iter().any(|keyword| node.has(keyword));
    let schema = node.get("unevaluatedProperties").filter(|_| is_simple)?;
    Some(("unevaluatedProperties", schema))
}

/// Returns the members of the object that is the value of a keyword.
pub(in super::super) fn named<'a>(
    node: Node<'a>,
    keyword: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    let members = node.get(keyword).and_then(Value::as_object);
    let members = members.into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

impl<'a> Prover<'a> {
    /// Returns what a view says about a member.
    pub(in super::super) fn member(&mut self, view: &View<'a>, name: &str) -> Member<'a> {
        let mut member = Member::default();
        for node in &view.nodes {
            let properties = node.get("properties").and_then(Value::as_object);
            let property = properties.and_then(|it| it.get(name));
            member
                .nodes
                .extend(property.map(|it| self.child(*node, it)));
            let mut is_described = property.is_some();
            let mut is_known = true;
            for (pattern, schema) in named(*node, "patternProperties") {
                let matches = self.matches(pattern, name);
                is_known &= matches.is_some();
                if matches == Some(true) {
                    is_described = true;
                    member.nodes.push(self.child(*node, schema));
                }
            }
            if let Some((_, schema)) = other_members(*node)
                && !is_described
                && is_known
            {
                member.nodes.push(self.child(*node, schema));
            }
            member.is_mentioned |= is_described || self.is_required_by(*node, name);
        }
        member.is_mentioned |= view.has_any(&ABOUT_OTHERS);
        member
    }

    /// Returns whether a member is certainly named or matches a pattern, or certainly
    /// not.
    pub(super) fn is_described(&mut self, node: Node<'a>, name: &str) -> Option<bool> {
        let properties = node.get("properties").and_then(Value::as_object);
        if properties.is_some_and(|it| it.contains_key(name)) {
            return Some(true);
        }
        let mut is_known = true;
        for (pattern, _) in named(node, "patternProperties") {
            match self.matches(pattern, name) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_known = false,
            }
        }
        is_known.then_some(false)
    }

    /// Returns whether a view requires a member.
    pub(in super::super) fn is_required(&mut self, view: &View<'a>, name: &str) -> bool {
        let mut nodes = view.nodes.iter();
        nodes.any(|node| self.is_required_by(*node, name))
    }

    fn is_required_by(&mut self, node: Node<'a>, name: &str) -> bool {
        let required = node.get("required");
        required.is_some_and(|required| self.names_of(required).contains(name))
    }

    /// Returns whether a view requires a member that no value can have.
    pub(super) fn requires_impossible_member(&mut self, view: &View<'a>) -> bool {
        let required: Vec<&str> = required_names(view).collect();
        let is_object = !required.is_empty() && view.kinds() == Kinds::OBJECT;
        is_object
            && required.into_iter().any(|name| {
                let nodes = self.member(view, name).nodes;
                self.spend(1)
                    && nodes
                        .iter()
                        .any(|it| matches!(it.value, Value::Bool(false)))
            })
    }

    /// Shows that a keyword holds for all objects of a view. `None` if the keyword is
    /// not valid or not understood.
    pub(super) fn object_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
        mode: Mode,
    ) -> Option<bool> {
        Some(match keyword {
            "minProperties" => self.min_members(view) >= limit(value)?,
            "maxProperties" => max_members(view) <= limit(value)?,
            "required" => {
                let names = value.as_array()?.iter().map(Value::as_str);
                let names: Vec<&str> = names.collect::<Option<_>>()?;
                names.into_iter().all(|name| self.is_required(view, name))
            }
            "properties" => {
                let mut properties = value.as_object()?.iter();
                properties.all(|(name, part)| {
                    let part = self.child(schema, part);
                    self.member_holds(view, name, part, mode)
                })
            }
            "patternProperties" => {
                let mut patterns = value.as_object()?.iter();
                patterns.all(|(pattern, part)| {
                    let part = self.child(schema, part);
                    self.pattern_holds(view, pattern, part, mode)
                })
            }
            "additionalProperties" => self.others_hold(view, schema, value, mode),
            "unevaluatedProperties" if is_trivial(value) => true,
            "unevaluatedProperties" if schema.has("additionalProperties") => true,
            // It depends on the keywords beside it, unless there are none.
            "unevaluatedProperties" => {
                let (_, part) = other_members(schema)?;
                self.others_hold(view, schema, part, mode)
            }
            "propertyNames" => self.names_hold(view, schema, value),
            _ => {
                let mut dependencies = value.as_object()?.iter();
                dependencies.all(|(name, needed)| self.dependency_holds(view, schema, name, needed))
            }
        })
    }

    /// Shows that a member is valid for a schema in all objects of a view.
    pub(in super::super) fn member_holds(
        &mut self,
        view: &View<'a>,
        name: &str,
        part: Node<'a>,
        mode: Mode,
    ) -> bool {
        if !self.spend(1) {
            return false;
        }
        if is_trivial(part.value) {
            return true;
        }
        let member = self.member(view, name);
        let may_be_assumed_absent = mode == Mode::Practical
            && !member.is_mentioned
            && self.describes_object(view)
            && !self.is_mentioned_in_place(view, name);
        may_be_assumed_absent || self.is_part_included(&member.nodes, part, mode)
    }

    /// Shows that the members whose names match a pattern are valid for a schema.
    fn pattern_holds(
        &mut self,
        view: &View<'a>,
        pattern: &'a str,
        part: Node<'a>,
        mode: Mode,
    ) -> bool {
        if is_trivial(part.value) {
            return true;
        }
        let nodes = view.nodes.clone();
        nodes.into_iter().any(|node| {
            let same = named(node, "patternProperties").find(|(it, _)| *it == pattern);
            if let Some((_, own)) = same {
                let own = self.child(node, own);
                if self.is_part_included(&[own], part, mode) {
                    return true;
                }
            }
            self.all_members_hold(
                view,
                node,
                part,
                mode,
                &mut |prover, name| prover.matches(pattern, name) != Some(false),
                &[],
            )
        })
    }

    /// Shows that the members that a schema neither names nor has a pattern for are
    /// valid for its schema of other members.
    fn others_hold(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        value: &'a Value,
        mode: Mode,
    ) -> bool {
        if is_trivial(value) {
            return true;
        }
        let part = self.child(schema, value);
        let patterns: Vec<&str> = named(schema, "patternProperties")
            .map(|(it, _)| it)
            .collect();
        let nodes = view.nodes.clone();
        nodes.into_iter().any(|node| {
            self.all_members_hold(
                view,
                node,
                part,
                mode,
                &mut |prover, name| prover.is_described(schema, name) != Some(true),
                &patterns,
            )
        })
    }

    /// Shows that all relevant members are valid for a schema, by what one schema of a
    /// view says about named, matching and other members. Patterns that are not
    /// relevant are left out.
    fn all_members_hold(
        &mut self,
        view: &View<'a>,
        node: Node<'a>,
        part: Node<'a>,
        mode: Mode,
        is_relevant: &mut dyn FnMut(&mut Self, &'a str) -> bool,
        left_out: &[&str],
    ) -> bool {
        let Some((_, others)) = other_members(node) else {
            return false;
        };
        let others = self.child(node, others);
        let mut matching = named(node, "patternProperties");
        self.is_part_included(&[others], part, mode)
            && matching.all(|(pattern, own)| {
                let own = self.child(node, own);
                left_out.contains(&pattern) || self.is_part_included(&[own], part, mode)
            })
            && named(node, "properties").all(|(name, _)| {
                if !self.spend(1) {
                    return false;
                }
                !is_relevant(self, name) || {
                    let own = self.member(view, name).nodes;
                    self.is_part_included(&own, part, mode)
                }
            })
    }

    fn min_members(&mut self, view: &View<'a>) -> u64 {
        let required: HashSet<&str> = required_names(view).collect();
        let required = u64::try_from(required.len()).unwrap_or(0);
        view.greatest("minProperties").unwrap_or(0).max(required)
    }

    /// Returns whether a view describes an object by its members, and not a map.
    fn describes_object(&self, view: &View<'a>) -> bool {
        let mut nodes = view.nodes.iter();
        nodes.any(|node| node.has("properties") || self.document(node.version).is_root(*node))
    }

    /// Returns whether a member may be mentioned in a schema that some values of a view
    /// are valid for.
    fn is_mentioned_in_place(&mut self, view: &View<'a>, name: &str) -> bool {
        let mut pending: Vec<Node<'a>> = Vec::new();
        for node in &view.nodes {
            match self.in_place(*node, name, |list| !view.is_decided_union(list)) {
                Some(parts) => pending.extend(parts),
                None => return true,
            }
        }
        let mut seen: HashSet<usize> = view.nodes.iter().map(|node| node.key()).collect();
        while let Some(node) = pending.pop() {
            if !seen.insert(node.key()) {
                continue;
            }
            let is_named = named(node, "properties").any(|(it, _)| it == name);
            let says_more = ABOUT_OTHERS.iter().any(|keyword| node.has(keyword));
            if is_named || says_more || self.is_required_by(node, name) {
                return true;
            }
            match self.in_place(node, name, |_| true) {
                Some(parts) if seen.len() < MAX_SEARCHED && self.spend(1) => pending.extend(parts),
                _ => return true,
            }
        }
        false
    }

    /// Returns the schemas that a schema applies to the same value, or `None` if one of
    /// its own keywords mentions a member, or if they are not all known.
    fn in_place(
        &self,
        node: Node<'a>,
        name: &str,
        is_open: impl Fn(&Value) -> bool,
    ) -> Option<Vec<Node<'a>>> {
        let mut parts = Vec::new();
        for (keyword, value) in node.members().into_iter().flatten() {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef", _) => match self.resolve(node, keyword, value) {
                    Target::Schema(target) => parts.push(target),
                    _ => return None,
                },
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) if is_open(value) => {
                    parts.extend(list.iter().map(|it| self.child(node, it)));
                }
                ("if" | "then" | "else" | "not", _) => parts.push(self.child(node, value)),
                ("dependentSchemas" | "dependencies" | "dependentRequired", Value::Object(all)) => {
                    for (trigger, needed) in all {
                        let names = needed.as_array().into_iter().flatten();
                        let mut names = names.filter_map(Value::as_str);
                        if trigger == name || names.any(|it| it == name) {
                            return None;
                        }
                        parts.push(self.child(node, needed));
                    }
                }
                _ => {}
            }
        }
        Some(parts)
    }
}

/// Returns the names of the members that a view requires.
pub(in super::super) fn required_names<'a>(
    view: &View<'a>,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let lists: Vec<&Value> = view.all("required").map(|(_, list)| list).collect();
    let names = lists.into_iter().filter_map(Value::as_array).flatten();
    names.filter_map(Value::as_str)
}

/// Returns the maximum number of members.
fn max_members(view: &View<'_>) -> u64 {
    let closed = view.nodes.iter().filter_map(|node| {
        let (_, others) = other_members(*node)?;
        let is_closed = matches!(others, Value::Bool(false)) && !node.has("patternProperties");
        let properties = node.get("properties").and_then(Value::as_object);
        let count = properties.map_or(0, Map::len);
        u64::try_from(count).ok().filter(|_| is_closed)
    });
    let stated = view.least("maxProperties").into_iter();
    stated.chain(closed).min().unwrap_or(u64::MAX)
}
