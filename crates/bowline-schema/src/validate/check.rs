//! Whether a value is valid. Stops at the first violation, and allocates nothing where
//! no schema asks for what others have evaluated.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    budget::{CheckBudget, MAX_DEPTH},
    compile::Compiled,
    keyword::{Keyword, Node, Schema, ValueKeyword, WholeKeyword, to_u64},
    resources::ResourceId,
};

/// One check of a value.
pub(super) struct Check<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) budget: &'a CheckBudget,
    depth: u32,
    /// The resources that were entered on the way here, the outermost first. Empty
    /// if there are no dynamic references.
    scope: Vec<ResourceId>,
    /// The first of all schemas for the current value, if there are options that ask.
    pub(super) whole: Option<Node>,
}

impl<'a> Check<'a> {
    pub(super) fn new(compiled: &'a Compiled, budget: &'a CheckBudget) -> Self {
        Self {
            compiled,
            budget,
            depth: 0,
            scope: Vec::new(),
            whole: None,
        }
    }

    /// Returns whether a value is valid. Inlined, since most schemas only name types.
    #[inline(always)]
    pub(super) fn is_valid(&mut self, node: Node, value: &Value) -> bool {
        let schema = &self.compiled.nodes[node];
        self.is_valid_itself(schema, value)
            && (schema.is_leaf || self.is_valid_inside(node, schema, value))
    }

    /// Checks what needs no other schema.
    #[inline(always)]
    pub(super) fn is_valid_itself(&self, schema: &Schema, value: &Value) -> bool {
        self.budget.spend(schema.steps)
            && schema.types.matches(value)
            && (schema.values.is_empty() || self.meets_values(&schema.values, value))
    }

    #[inline(never)]
    fn meets_values(&self, keywords: &[ValueKeyword], value: &Value) -> bool {
        let mut keywords = keywords.iter();
        keywords.all(|keyword| keyword.is_met(value, self.budget))
    }

    #[inline(never)]
    fn is_valid_inside(&mut self, node: Node, schema: &'a Schema, value: &Value) -> bool {
        let entered = self.enter(node);
        let is_valid = self.meets_others(schema, value);
        self.leave(entered);
        is_valid
    }

    #[inline]
    fn meets_others(&mut self, schema: &'a Schema, value: &Value) -> bool {
        if let (Some(table), Value::Object(members)) = (&schema.members, value)
            && !self.has_valid_members(table, members)
        {
            return false;
        }
        let mut keywords = schema.keywords.iter();
        keywords.all(|keyword| self.meets(keyword, value))
    }

    /// Enters a schema, and returns whether that entered another resource.
    #[inline]
    pub(super) fn enter(&mut self, node: Node) -> bool {
        self.limit_depth();
        self.depth += 1;
        let resource = self.compiled.resources.get(node);
        let is_other = resource.is_some() && resource != self.scope.last();
        if is_other {
            self.scope.extend(resource);
        }
        is_other
    }

    #[inline]
    pub(super) fn leave(&mut self, entered_resource: bool) {
        self.depth -= 1;
        if entered_resource {
            self.scope.pop();
        }
    }

    /// Ends the check if it is too deep.
    #[inline]
    pub(super) fn limit_depth(&self) {
        if self.depth >= MAX_DEPTH {
            self.budget.exhaust();
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

    /// Returns the branch of a condition that a value must match.
    pub(super) fn branch(
        &mut self,
        condition: Node,
        [then, otherwise]: [Option<Node>; 2],
        value: &Value,
    ) -> Option<Node> {
        match self.is_valid(condition, value) {
            true => then,
            false => otherwise,
        }
    }

    fn meets(&mut self, keyword: &'a Keyword, value: &Value) -> bool {
        match keyword {
            Keyword::Ref(node) => self.is_valid(*node, value),
            Keyword::Whole(whole) => self.is_valid_whole(*whole, value),
            Keyword::DynamicRef { target, candidates } => {
                let node = self.dynamic_target(*target, candidates);
                self.is_valid(node, value)
            }
            Keyword::AllOf(nodes) => nodes.iter().all(|node| self.is_valid(*node, value)),
            Keyword::AnyOf(nodes) => nodes.iter().any(|node| self.is_valid(*node, value)),
            Keyword::OneOf(nodes) => {
                let [first, second] = self.first_valid(nodes, value);
                first.is_some() && second.is_none()
            }
            Keyword::OneOfWithOptions { nodes, exact } => match self.first_valid(exact, value) {
                [None, _] => nodes.iter().any(|node| self.is_valid(*node, value)),
                [Some(only), None] => self.is_valid(nodes[only], value),
                [Some(_), Some(_)] => false,
            },
            Keyword::Not(node, _) => !self.is_valid(*node, value),
            Keyword::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = self.branch(*condition, [*then, *otherwise], value);
                branch.is_none_or(|node| self.is_valid(node, value))
            }
            _ => match value {
                Value::Array(items) => self.is_valid_array(keyword, items, value),
                Value::Object(members) => self.is_valid_object(keyword, members, value),
                _ => true,
            },
        }
    }

    /// Returns the indices of the first two alternatives that a value matches.
    pub(super) fn first_valid(&mut self, nodes: &[Node], value: &Value) -> [Option<usize>; 2] {
        let mut first = None;
        for (at, node) in nodes.iter().enumerate() {
            if self.is_valid(*node, value) {
                if first.is_some() {
                    return [first, Some(at)];
                }
                first = Some(at);
            }
        }
        [first, None]
    }

    /// Checks a value against all schemas for it, with options.
    fn is_valid_whole(&mut self, whole: WholeKeyword, value: &Value) -> bool {
        let schema = &self.compiled.nodes[whole.part];
        let outer = self.whole.replace(whole.part);
        let is_valid = self.is_valid_itself(schema, value)
            && self.meets_others(schema, value)
            && !(whole.rejects_undeclared && self.has_undeclared(whole.part, value));
        self.whole = outer;
        is_valid
    }

    fn is_valid_array(&mut self, keyword: &Keyword, items: &[Value], value: &Value) -> bool {
        match keyword {
            Keyword::Items(from, node) => {
                let mut others = items.get(*from..).unwrap_or_default().iter();
                others.all(|item| self.is_valid(*node, item))
            }
            Keyword::PrefixItems(nodes) => {
                let mut items = items.iter().zip(nodes);
                items.all(|(item, node)| self.is_valid(*node, item))
            }
            Keyword::Contains { node, min, max } => {
                let count = self.count_valid(*node, items);
                count >= *min && max.is_none_or(|max| count <= max)
            }
            Keyword::UnevaluatedItems { parent, node } => {
                let known = self.evaluated(*parent, value);
                let mut items = items.iter().enumerate();
                items.all(|(at, item)| known.contains_item(at) || self.is_valid(*node, item))
            }
            _ => true,
        }
    }

    /// Returns how many items are valid.
    pub(super) fn count_valid(&mut self, node: Node, items: &[Value]) -> u64 {
        let is_valid = |item: &&Value| self.is_valid(node, item);
        to_u64(items.iter().filter(is_valid).count())
    }

    fn is_valid_object(
        &mut self,
        keyword: &Keyword,
        members: &Map<String, Value>,
        value: &Value,
    ) -> bool {
        match keyword {
            Keyword::DependentSchemas(nodes) => {
                self.budget.spend(to_u64(nodes.len()))
                    && nodes.iter().all(|(name, node)| {
                        !members.contains_key(name) || self.is_valid(*node, value)
                    })
            }
            Keyword::PropertyNames(node) => {
                let mut names = members.keys().map(|name| Value::from(name.as_str()));
                names.all(|name| self.is_valid(*node, &name))
            }
            Keyword::UnevaluatedProperties { parent, node } => {
                let known = self.evaluated(*parent, value);
                let mut members = members.iter();
                members.all(|(name, member)| {
                    known.contains_member(name) || self.is_valid(*node, member)
                })
            }
            _ => true,
        }
    }
}
