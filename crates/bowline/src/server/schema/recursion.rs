//! Detection of schemas that refer back to themselves for the same value:
//! checking a value against one of them would never end.

use super::keyword::{Keyword, Node};

/// Returns whether there are any.
pub(super) fn has_infinite_recursion(nodes: &[Vec<Keyword>]) -> bool {
    let mut states = vec![VisitState::Unvisited; nodes.len()];
    (0..nodes.len()).any(|node| recurses(nodes, node, &mut states))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Unvisited,
    InProgress,
    Done,
}

fn recurses(nodes: &[Vec<Keyword>], node: Node, states: &mut [VisitState]) -> bool {
    match states[node] {
        VisitState::InProgress => return true,
        VisitState::Done => return false,
        VisitState::Unvisited => states[node] = VisitState::InProgress,
    }
    let mut next = nodes[node].iter().flat_map(in_place_subschemas);
    let found = next.any(|node| recurses(nodes, node, states));
    states[node] = VisitState::Done;
    found
}

/// Returns the schemas that are applied to the same value.
fn in_place_subschemas(keyword: &Keyword) -> Vec<Node> {
    match keyword {
        Keyword::Ref(node) | Keyword::Not(node, _) => vec![*node],
        Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => nodes.clone(),
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
        | Keyword::Unevaluated { .. }
        | Keyword::Value(_)
        | Keyword::PrefixItems(_)
        | Keyword::Items(..)
        | Keyword::Contains { .. }
        | Keyword::Properties(_)
        | Keyword::PatternProperties(_)
        | Keyword::Additional { .. } => Vec::new(),
    }
}
