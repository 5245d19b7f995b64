//! Schemas that hold for a value at the same time, seen as one.

use std::{collections::HashSet, rc::Rc};

use serde_json::Value;

use super::{
    super::{
        document::{Address, Node, Target, address},
        keyword::Role,
        kinds::Kinds,
    },
    Prover,
};

/// The maximum number of schemas in a view.
const MAX_NODES: usize = 256;

/// Schemas that hold for a value at the same time, such as those in an `allOf`, and
/// what references among them name.
#[derive(Clone, Debug)]
pub(in super::super) struct View<'a> {
    /// The schemas that are objects, the outermost first.
    pub(in super::super) nodes: Vec<Node<'a>>,
    /// Whether one of the schemas is `false`.
    pub(in super::super) is_never: bool,
    /// Whether one of the schemas is neither an object nor a boolean.
    pub(super) is_malformed: bool,
    /// The kinds of values that are considered.
    kinds: Kinds,
    /// The keys of the schemas that say something themselves.
    keys: Vec<usize>,
    /// The unions of which one alternative is among the schemas.
    decided: Vec<Address>,
}

/// An `anyOf` or `oneOf`.
#[derive(Clone, Copy)]
pub(in super::super) struct Union<'a> {
    pub(in super::super) node: Node<'a>,
    pub(in super::super) list: &'a Value,
    pub(in super::super) alternatives: &'a [Value],
}

/// What tells a view from others.
pub(in super::super) type ViewKey = Rc<[usize]>;

impl<'a> View<'a> {
    /// Returns the schemas that have a keyword, with its value.
    pub(in super::super) fn all<'v>(
        &'v self,
        keyword: &'v str,
    ) -> impl Iterator<Item = (Node<'a>, &'a Value)> + 'v {
        let nodes = self.nodes.iter();
        nodes.filter_map(move |node| Some((*node, node.get(keyword)?)))
    }

    /// Returns whether a schema has one of the keywords.
    pub(in super::super) fn has_any(&self, keywords: &[&str]) -> bool {
        let has = |node: &Node<'a>| keywords.iter().any(|keyword| node.has(keyword));
        self.nodes.iter().any(has)
    }

    /// Returns the same view of fewer kinds of values.
    pub(in super::super) fn only(&self, kinds: Kinds) -> Self {
        Self {
            kinds: self.kinds.and(kinds),
            ..self.clone()
        }
    }

    /// Returns the kinds of values that `type` allows.
    pub(in super::super) fn kinds(&self) -> Kinds {
        if self.is_never {
            return Kinds::NONE;
        }
        let types = self.all("type").filter_map(|(_, it)| Kinds::of_type(it));
        types.fold(self.kinds, Kinds::and)
    }

    /// Returns the unions of which any alternative may hold.
    pub(in super::super) fn unions(&self) -> impl Iterator<Item = Union<'a>> + '_ {
        let of = |node: &Node<'a>, keyword| {
            let list = node.get(keyword)?;
            let alternatives = list.as_array()?;
            let is_open = !alternatives.is_empty() && !self.is_decided_union(list);
            is_open.then_some(Union {
                node: *node,
                list,
                alternatives,
            })
        };
        let nodes = self.nodes.iter();
        nodes.flat_map(move |node| {
            ["anyOf", "oneOf"]
                .into_iter()
                .filter_map(move |it| of(node, it))
        })
    }

    /// Returns whether a keyword is a union of which one alternative holds.
    pub(in super::super) fn is_decided_union(&self, list: &Value) -> bool {
        self.decided.contains(&address(list))
    }

    /// Returns whether a schema has such a keyword.
    pub(super) fn has_decided_union(&self, node: Node<'a>) -> bool {
        let lists = ["anyOf", "oneOf"].into_iter().filter_map(|it| node.get(it));
        lists.into_iter().any(|list| self.is_decided_union(list))
    }

    pub(in super::super) fn contains(&self, node: Node<'a>) -> bool {
        self.nodes.iter().any(|it| it.key() == node.key())
    }

    /// Returns what tells this view from others.
    pub(in super::super) fn key(&self) -> ViewKey {
        let mut key = self.keys.clone();
        key.sort_unstable();
        let mut decided = self.decided.clone();
        decided.sort_unstable();
        key.push(self.kinds.bits() | usize::from(self.is_never) << 8);
        key.extend(decided);
        key.into()
    }
}

impl<'a> Prover<'a> {
    /// Returns the view of schemas that hold at the same time.
    pub(in super::super) fn view(&self, roots: &[Node<'a>]) -> View<'a> {
        let mut view = View {
            nodes: Vec::new(),
            is_never: false,
            is_malformed: false,
            kinds: Kinds::ALL,
            keys: Vec::new(),
            decided: Vec::new(),
        };
        self.add_to(&mut view, roots);
        view
    }

    /// Returns a view with further schemas.
    pub(in super::super) fn with(&self, view: &View<'a>, roots: &[Node<'a>]) -> View<'a> {
        let mut view = view.clone();
        self.add_to(&mut view, roots);
        view
    }

    /// Returns a view with one alternative of one of its unions.
    pub(in super::super) fn decide(
        &self,
        view: &View<'a>,
        union: Union<'a>,
        alternative: &'a Value,
    ) -> View<'a> {
        let mut view = self.with(view, &[self.child(union.node, alternative)]);
        view.decided.push(address(union.list));
        view
    }

    /// Adds schemas, and what they apply to the same value in any case. What is too
    /// much is left out, which makes the view larger but never wrong: views are of
    /// values that are to be included in others.
    fn add_to(&self, view: &mut View<'a>, roots: &[Node<'a>]) {
        let mut known: HashSet<usize> = view.nodes.iter().map(|node| node.key()).collect();
        let mut pending: Vec<Node<'a>> = roots.iter().rev().copied().collect();
        while let Some(node) = pending.pop() {
            match node.value {
                Value::Bool(yes) => view.is_never |= !yes,
                Value::Object(_) => {}
                _ => view.is_malformed = true,
            }
            let is_new = node.members().is_some() && known.insert(node.key());
            if !is_new || view.nodes.len() >= MAX_NODES || !self.spend(1) {
                continue;
            }
            view.nodes.push(node);
            let mut says_something = self.says_something(node);
            let all_of = node.get("allOf").and_then(Value::as_array);
            let all_of = all_of.into_iter().flatten().rev();
            pending.extend(all_of.map(|child| self.child(node, child)));
            for keyword in ["$dynamicRef", "$ref"] {
                let reference = node.get(keyword);
                match reference.map(|it| self.resolve(node, keyword, it)) {
                    Some(Target::Schema(target)) => pending.push(target),
                    Some(_) => says_something = true,
                    None => {}
                }
            }
            if says_something {
                view.keys.push(node.key());
            }
        }
    }

    /// Returns whether a schema says more than the schemas that it leads to. Views that
    /// only differ in others need not be told apart.
    fn says_something(&self, node: Node<'a>) -> bool {
        let leads_on =
            |keyword: &String| matches!(keyword.as_str(), "$ref" | "$dynamicRef" | "allOf");
        let mut keywords = node.members().into_iter().flat_map(|it| it.keys());
        keywords.any(|it| Role::of(it).restricts() && !leads_on(it))
            || self.document(node.version).is_root(node)
    }
}
