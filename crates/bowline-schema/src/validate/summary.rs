//! What a schema says in brief: enough to tell which alternative is meant, and to name
//! what is expected.

use std::mem;

use serde_json::Value;

use super::{
    compile::Compiled,
    display::{TruncatedJson, truncate_entry},
    json_type::{JsonType, Types},
    keyword::{Keyword, Node, Schema, ValueKeyword},
    member_table::MemberTable,
    violation::one_of,
};

/// The maximum number of schemas that are taken together as one.
const MAX_PARTS: usize = 64;

/// The maximum number of alternatives that are looked at, with those within others.
const MAX_SCHEMAS: u32 = 100;

/// The maximum number of values or members of one schema that are looked at.
const MAX_CHOICES: usize = 100;

/// The maximum number of members that are named.
const MAX_NAMED: usize = 3;

impl Compiled {
    /// Returns a schema and all others that a value must match with it. If there are
    /// many, only the first.
    pub(super) fn parts(&self, node: Node) -> Vec<Node> {
        let mut parts = vec![node];
        let mut at = 0;
        while at < parts.len() {
            for keyword in &self.nodes[parts[at]].keywords {
                let others = match keyword {
                    Keyword::Ref(node) | Keyword::DynamicRef { target: node, .. } => &[*node][..],
                    Keyword::Whole(whole) => &[whole.part],
                    Keyword::AllOf(nodes) => nodes,
                    _ => &[],
                };
                for other in others {
                    if parts.len() < MAX_PARTS && !parts.contains(other) {
                        parts.push(*other);
                    }
                }
            }
            at += 1;
        }
        parts
    }

    /// Returns a schema and all others that a value must match with it.
    fn schemas(&self, node: Node) -> impl Iterator<Item = &Schema> {
        let parts = self.parts(node).into_iter();
        parts.map(|part| &self.nodes[part])
    }

    /// Returns what a schema says about members.
    fn member_tables(&self, node: Node) -> impl Iterator<Item = &MemberTable> {
        self.schemas(node)
            .filter_map(|part| part.members.as_deref())
    }

    /// Returns the members that a schema declares, with their schemas.
    pub(super) fn members(&self, node: Node) -> impl Iterator<Item = (&str, Node)> {
        self.member_tables(node).flat_map(MemberTable::declared)
    }

    /// Returns the values that a schema lists.
    pub(super) fn choices(&self, node: Node) -> Option<&[Value]> {
        let mut keywords = self.schemas(node).flat_map(|part| &part.values);
        keywords.find_map(|keyword| match keyword {
            ValueKeyword::Const(value) => Some(std::slice::from_ref(value)),
            ValueKeyword::Enum(options) => Some(options.values()),
            _ => None,
        })
    }

    /// Returns the only value that a schema allows.
    pub(super) fn only_choice(&self, node: Node) -> Option<&Value> {
        match self.choices(node) {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// Returns the names of the members that a schema requires.
    fn required(&self, node: Node) -> impl Iterator<Item = &str> {
        let required = self.member_tables(node).flat_map(MemberTable::required);
        required.map(|known| known.name.as_str())
    }

    /// Returns whether a schema requires a member.
    pub(super) fn requires(&self, node: Node, name: &str) -> bool {
        self.required(node).any(|it| it == name)
    }

    /// Returns whether a schema has a default.
    pub(super) fn has_default(&self, node: Node) -> bool {
        self.schemas(node).any(|part| part.has_default)
    }

    /// Returns whether a schema allows the JSON type of a value, as far as it can be
    /// told quickly.
    pub(super) fn allows_type(&self, node: Node, value: &Value) -> bool {
        let mut fuel = MAX_SCHEMAS;
        self.allows_type_within(&mut fuel, node, value)
    }

    fn allows_type_within(&self, fuel: &mut u32, node: Node, value: &Value) -> bool {
        let Some(left) = fuel.checked_sub(1) else {
            return true;
        };
        *fuel = left;
        let same_type = |other: &Value| mem::discriminant(other) == mem::discriminant(value);
        self.schemas(node).all(|part| {
            let allows_type = |keyword: &ValueKeyword| match keyword {
                ValueKeyword::Never => false,
                ValueKeyword::Const(only) => same_type(only),
                ValueKeyword::Enum(options) => options.values().iter().any(same_type),
                _ => true,
            };
            part.types.matches(value)
                && part.values.iter().all(allows_type)
                && part.keywords.iter().all(|keyword| {
                    let mut alternatives = keyword.alternatives().iter();
                    alternatives.len() == 0
                        || alternatives.any(|node| self.allows_type_within(fuel, *node, value))
                })
        })
    }

    /// Returns what a schema expects, in a few words.
    pub(super) fn expectation(&self, node: Node) -> String {
        self.expectation_of_any(&[node])
    }

    /// Returns what several schemas expect, of which a value must match one.
    pub(super) fn expectation_of_any(&self, nodes: &[Node]) -> String {
        let mut all = Vec::new();
        let mut fuel = MAX_SCHEMAS;
        for node in nodes {
            self.collect_expectations(&mut fuel, *node, &mut all);
        }
        one_of(&all, all.len())
    }

    fn collect_expectations(&self, fuel: &mut u32, node: Node, all: &mut Vec<String>) {
        let Some(left) = fuel.checked_sub(1) else {
            return;
        };
        *fuel = left;
        if let Some(choices) = self.choices(node) {
            let written = choices.iter().take(MAX_CHOICES);
            append_new(all, written.map(|it| TruncatedJson(it).to_string()));
            return;
        }
        if self.schemas(node).any(Schema::is_never) {
            return;
        }
        let mut keywords = self.schemas(node).flat_map(|part| &part.keywords);
        let alternatives = keywords.find_map(|keyword| match keyword.alternatives() {
            [] => None,
            nodes => Some(nodes),
        });
        if let Some(nodes) = alternatives {
            for node in nodes {
                self.collect_expectations(fuel, *node, all);
            }
            return;
        }
        let is_object =
            || self.members(node).next().is_some() || self.required(node).next().is_some();
        let mut types = self.schemas(node).map(|part| part.types);
        match types.find(|types| *types != Types::ANY) {
            Some(types) => append_new(all, types.iter().map(|it| self.words(it, node))),
            None if is_object() => append_new(all, [self.words(JsonType::Object, node)]),
            None => append_new(all, ["any value".to_owned()]),
        }
    }

    /// Returns the words for a type, with what tells an object from others.
    fn words(&self, kind: JsonType, node: Node) -> String {
        if kind != JsonType::Object {
            return kind.name().to_owned();
        }
        let mut required: Vec<&str> = self.required(node).take(MAX_CHOICES).collect();
        let members = self.members(node).take(MAX_CHOICES);
        let mut traits = Vec::new();
        for (name, member) in members {
            let position = required.iter().position(|it| *it == name);
            let is_required = position.map(|at| required.remove(at)).is_some();
            match self.only_choice(member) {
                Some(only) => traits.push(format!("`{name}` {}", TruncatedJson(only))),
                None if is_required => traits.push(format!("`{name}`")),
                None => {}
            }
        }
        // Alternatives often only require what is declared beside them.
        traits.extend(required.iter().map(|name| format!("`{name}`")));
        traits.truncate(MAX_NAMED);
        match &traits[..] {
            [] => kind.name().to_owned(),
            [only] => format!("{kind} with {only}"),
            [first @ .., last] => format!("{kind} with {} and {last}", first.join(", ")),
        }
    }
}

/// Appends what is not there yet.
fn append_new(all: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more.into_iter().map(truncate_entry) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}
