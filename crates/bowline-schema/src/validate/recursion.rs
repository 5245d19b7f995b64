//! Detection of schemas that lead back to themselves for the same value: checking a
//! value against one of them would never end.

use std::{collections::HashMap, sync::Arc};

use super::{
    keyword::{Keyword, Node, Schema},
    resources::ResourceId,
};

/// Checks that there are none.
pub(super) fn check(nodes: &[Schema]) -> Result<(), String> {
    let graph = InPlaceGraph::new(nodes);
    let mut states = vec![VisitState::Unvisited; graph.len()];
    for start in 0..graph.len() {
        if leads_back(&graph, start, &mut states) {
            return Err("it has an infinitely recursive reference".to_owned());
        }
    }
    Ok(())
}

/// The candidates of dynamic references.
type Candidates = HashMap<ResourceId, Node>;

/// Which schemas apply which others to the same value. The candidates of dynamic
/// references are vertices too, after the schemas: many references share them.
struct InPlaceGraph<'a> {
    nodes: &'a [Schema],
    candidates: Vec<&'a Candidates>,
    by_address: HashMap<*const Candidates, usize>,
}

impl<'a> InPlaceGraph<'a> {
    fn new(nodes: &'a [Schema]) -> Self {
        let mut graph = Self {
            nodes,
            candidates: Vec::new(),
            by_address: HashMap::new(),
        };
        for keyword in nodes.iter().flat_map(|it| &it.keywords) {
            if let Keyword::DynamicRef { candidates, .. } = keyword {
                let vertex = graph.len();
                let entry = graph.by_address.entry(Arc::as_ptr(candidates));
                if *entry.or_insert(vertex) == vertex {
                    graph.candidates.push(candidates);
                }
            }
        }
        graph
    }

    fn len(&self) -> usize {
        self.nodes.len() + self.candidates.len()
    }

    /// Returns the vertices that a vertex leads to.
    fn next(&self, vertex: usize) -> Vec<usize> {
        match self.nodes.get(vertex) {
            Some(schema) => {
                let next = schema
                    .keywords
                    .iter()
                    .flat_map(|keyword| self.in_place(keyword));
                next.collect()
            }
            None => {
                let candidates = self.candidates[vertex - self.nodes.len()];
                candidates.values().copied().collect()
            }
        }
    }

    /// Returns the schemas that a keyword applies to the same value.
    fn in_place(&self, keyword: &Keyword) -> Vec<usize> {
        match keyword {
            Keyword::Ref(node) | Keyword::Not(node, _) => vec![*node],
            Keyword::Whole(whole) => vec![whole.part],
            Keyword::DynamicRef { target, candidates } => {
                vec![*target, self.by_address[&Arc::as_ptr(candidates)]]
            }
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => nodes.clone(),
            Keyword::OneOfWithOptions { nodes, exact } => [&nodes[..], exact].concat(),
            Keyword::If {
                condition,
                then,
                otherwise,
            } => [Some(*condition), *then, *otherwise]
                .into_iter()
                .flatten()
                .collect(),
            Keyword::DependentSchemas(nodes) => nodes.iter().map(|(_, node)| *node).collect(),
            // This is applied to a name, and names have no members, so it can only
            // lead back through the other keywords.
            Keyword::PropertyNames(_)
            | Keyword::UnevaluatedItems { .. }
            | Keyword::UnevaluatedProperties { .. }
            | Keyword::PrefixItems(_)
            | Keyword::Items(..)
            | Keyword::Contains { .. } => Vec::new(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Unvisited,
    InProgress,
    Done,
}

/// Visits everything that is applied to the same value, depth first. A stack instead
/// of recursion, since chains may be long.
fn leads_back(graph: &InPlaceGraph<'_>, start: usize, states: &mut [VisitState]) -> bool {
    let mut stack = vec![(start, None::<Vec<usize>>)];
    while let Some((vertex, next)) = stack.last_mut() {
        let vertex = *vertex;
        let next = match next {
            Some(next) => next,
            None => match states[vertex] {
                VisitState::InProgress => return true,
                VisitState::Done => {
                    stack.pop();
                    continue;
                }
                VisitState::Unvisited => {
                    states[vertex] = VisitState::InProgress;
                    next.insert(graph.next(vertex))
                }
            },
        };
        match next.pop() {
            Some(child) => stack.push((child, None)),
            None => {
                states[vertex] = VisitState::Done;
                stack.pop();
            }
        }
    }
    false
}
