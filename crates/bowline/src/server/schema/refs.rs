//! Schemas that lead back to themselves without a look at a part of the value:
//! holding a value against one of them would never end.

use super::keyword::{Keyword, Node};

/// Whether there are any.
pub(super) fn lead_back(nodes: &[Vec<Keyword>]) -> bool {
    let mut seen = vec![Seen::No; nodes.len()];
    (0..nodes.len()).any(|node| leads_back(nodes, node, &mut seen))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    OnTheWay,
    Done,
}

fn leads_back(nodes: &[Vec<Keyword>], node: Node, seen: &mut [Seen]) -> bool {
    match seen[node] {
        Seen::OnTheWay => return true,
        Seen::Done => return false,
        Seen::No => seen[node] = Seen::OnTheWay,
    }
    let mut next = nodes[node].iter().flat_map(in_place);
    let found = next.any(|node| leads_back(nodes, node, seen));
    seen[node] = Seen::Done;
    found
}

/// The schemas that the same value is held against.
fn in_place(keyword: &Keyword) -> Vec<Node> {
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
        // A name is held against this, and names have no members: it may lead
        // back only if it does so by the other ways.
        Keyword::PropertyNames(_)
        | Keyword::Unevaluated { .. }
        | Keyword::Own(_)
        | Keyword::PrefixItems(_)
        | Keyword::Items(..)
        | Keyword::Contains { .. }
        | Keyword::Properties(_)
        | Keyword::PatternProperties(_)
        | Keyword::Additional { .. } => Vec::new(),
    }
}
