//! Detection of schemas that lead back to themselves for the same value: checking a
//! value against one of them would never end.

use super::keyword::{Keyword, Node};

/// Checks that there are none.
pub(super) fn check(nodes: &[Vec<Keyword>]) -> Result<(), String> {
    let mut states = vec![VisitState::Unvisited; nodes.len()];
    for start in 0..nodes.len() {
        if leads_back(nodes, start, &mut states) {
            return Err("it has an infinitely recursive reference".to_owned());
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Unvisited,
    InProgress,
    Done,
}

/// Visits everything that is applied to the same value, depth first. A stack instead
/// of recursion, since chains may be long.
fn leads_back(nodes: &[Vec<Keyword>], start: Node, states: &mut [VisitState]) -> bool {
    let mut stack = vec![(start, None::<Vec<Node>>)];
    while let Some((node, next)) = stack.last_mut() {
        let node = *node;
        let next = match next {
            Some(next) => next,
            None => match states[node] {
                VisitState::InProgress => return true,
                VisitState::Done => {
                    stack.pop();
                    continue;
                }
                VisitState::Unvisited => {
                    states[node] = VisitState::InProgress;
                    let subschemas = nodes[node].iter().flat_map(in_place_subschemas);
                    next.insert(subschemas.collect())
                }
            },
        };
        match next.pop() {
            Some(child) => stack.push((child, None)),
            None => {
                states[node] = VisitState::Done;
                stack.pop();
            }
        }
    }
    false
}

/// Returns the schemas that are applied to the same value.
fn in_place_subschemas(keyword: &Keyword) -> Vec<Node> {
    match keyword {
        Keyword::Ref(node) | Keyword::Not(node, _) => vec![*node],
        Keyword::DynamicRef { target, candidates } => {
            let others = candidates.iter().map(|(_, node)| *node);
            others.chain([*target]).collect()
        }
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
        | Keyword::UnevaluatedItems { .. }
        | Keyword::UnevaluatedProperties { .. }
        | Keyword::Value(_)
        | Keyword::PrefixItems(_)
        | Keyword::Items(..)
        | Keyword::Contains { .. }
        | Keyword::Properties(_)
        | Keyword::PatternProperties(_)
        | Keyword::Additional { .. } => Vec::new(),
    }
}
