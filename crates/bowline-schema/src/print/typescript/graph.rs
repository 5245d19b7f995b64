//! Which named types are used, and which lead back to themselves.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::shape::{DefinitionId, Shape, Type, TypeKind};

/// How many named types are spelled out inside each other.
const MAX_INLINED: usize = 4;

/// What is known about the named types of a shape.
#[derive(Debug)]
pub(in crate::print) struct Graph {
    /// Those that the type of the document uses, directly or not, in their order.
    reachable: Vec<DefinitionId>,
    /// Those that contain themselves, or are between two that do.
    circular: HashSet<DefinitionId>,
    /// Aliases that consist of themselves, as far as they are not objects or lists.
    endless: HashSet<DefinitionId>,
    /// Those that are spelled out where they are used.
    inlined: HashSet<DefinitionId>,
}

type Edges = HashMap<DefinitionId, Vec<DefinitionId>>;

impl Graph {
    /// Examines a shape. If `inlines`, named types that are used once are spelled out.
    pub(in crate::print) fn new(shape: &Shape, inlines: bool) -> Self {
        let edges: Edges = shape
            .definitions()
            .map(|(id, definition)| (id, references(&definition.ty)))
            .collect();
        let direct: Edges = shape
            .definitions()
            .map(|(id, definition)| (id, direct_references(&definition.ty)))
            .collect();
        let from_root = references(shape.root());
        let reachable = reachable(&from_root, &edges);
        let circular = on_circles(&edges);
        let inlined = match inlines {
            true => inlined(&from_root, &reachable, &edges, &circular),
            false => HashSet::new(),
        };
        Self {
            endless: on_circles(&direct),
            reachable,
            circular,
            inlined,
        }
    }

    /// Returns the named types to declare.
    pub(in crate::print) fn declared(&self) -> impl Iterator<Item = DefinitionId> {
        let reachable = self.reachable.iter().copied();
        reachable.filter(|id| !self.inlined.contains(id))
    }

    pub(super) fn is_inlined(&self, id: DefinitionId) -> bool {
        self.inlined.contains(&id)
    }

    /// Returns whether a named type has no end that a compiler could find.
    pub(super) fn is_endless(&self, id: DefinitionId) -> bool {
        self.endless.contains(&id)
    }

    /// Returns whether a type mentions one that contains itself.
    pub(super) fn leads_into_circle(&self, ty: &Type) -> bool {
        references(ty)
            .iter()
            .any(|id| self.circular.contains(id) || self.is_inlined(*id))
    }
}

/// Returns the named types that a type mentions.
fn references(ty: &Type) -> Vec<DefinitionId> {
    let mut found = Vec::new();
    collect(ty, &mut found);
    found
}

fn collect(ty: &Type, found: &mut Vec<DefinitionId>) {
    if let TypeKind::Reference(id) = ty.kind {
        found.push(id);
    }
    ty.for_each_child(&mut |child| collect(child, found));
}

/// Returns the named types that a type is, without an object or a list in between.
fn direct_references(ty: &Type) -> Vec<DefinitionId> {
    match &ty.kind {
        TypeKind::Reference(id) => vec![*id],
        TypeKind::Union(union) => union.variants.iter().flat_map(direct_references).collect(),
        _ => Vec::new(),
    }
}

fn reachable(from: &[DefinitionId], edges: &Edges) -> Vec<DefinitionId> {
    let mut seen: HashSet<DefinitionId> = from.iter().copied().collect();
    let mut pending: VecDeque<DefinitionId> = seen.iter().copied().collect();
    while let Some(id) = pending.pop_front() {
        for next in &edges[&id] {
            if seen.insert(*next) {
                pending.push_back(*next);
            }
        }
    }
    let mut reachable: Vec<_> = seen.into_iter().collect();
    reachable.sort_unstable();
    reachable
}

/// Returns what is left of a graph without the ends, again and again: circles, and what
/// is between two of them.
fn on_circles(edges: &Edges) -> HashSet<DefinitionId> {
    let mut reversed: Edges = edges.keys().map(|id| (*id, Vec::new())).collect();
    for (id, targets) in edges {
        for target in targets {
            reversed.entry(*target).or_default().push(*id);
        }
    }
    let mut left: HashSet<DefinitionId> = edges.keys().copied().collect();
    for (forward, backward) in [(edges, &reversed), (&reversed, edges)] {
        remove_ends(&mut left, forward, backward);
    }
    left
}

/// Removes what has no edge to anything that is left.
fn remove_ends(left: &mut HashSet<DefinitionId>, forward: &Edges, backward: &Edges) {
    let count = |id: &DefinitionId| forward[id].iter().filter(|to| left.contains(to)).count();
    let mut counts: HashMap<DefinitionId, usize> = left.iter().map(|id| (*id, count(id))).collect();
    let ends = counts.iter().filter(|(_, count)| **count == 0);
    let mut ends: Vec<DefinitionId> = ends.map(|(id, _)| *id).collect();
    while let Some(end) = ends.pop() {
        left.remove(&end);
        for id in &backward[&end] {
            let Some(count) = counts.get_mut(id).filter(|count| **count > 0) else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                ends.push(*id);
            }
        }
    }
}

/// Returns the named types that are mentioned once and end.
fn inlined(
    from_root: &[DefinitionId],
    reachable: &[DefinitionId],
    edges: &Edges,
    circular: &HashSet<DefinitionId>,
) -> HashSet<DefinitionId> {
    let mut uses: HashMap<DefinitionId, usize> = HashMap::new();
    let mentioned = reachable.iter().flat_map(|id| &edges[id]);
    for id in from_root.iter().chain(mentioned) {
        *uses.entry(*id).or_default() += 1;
    }
    // The root first, so that what is around a type is known before it.
    let mut depths: HashMap<DefinitionId, usize> = HashMap::new();
    let mut pending: VecDeque<(DefinitionId, usize)> =
        from_root.iter().map(|id| (*id, 0)).collect();
    let mut seen = HashSet::new();
    while let Some((id, around)) = pending.pop_front() {
        if !seen.insert(id) {
            continue;
        }
        let is_inlined = uses[&id] == 1 && !circular.contains(&id) && around < MAX_INLINED;
        let depth = if is_inlined { around + 1 } else { 0 };
        if is_inlined {
            depths.insert(id, depth);
        }
        pending.extend(edges[&id].iter().map(|next| (*next, depth)));
    }
    depths.into_keys().collect()
}
