//! Finding definitions that contain themselves.

use super::{Definition, DefinitionId, Type, TypeKind};

/// Marks the definitions whose values can contain values of the same definition
/// without an array or a map in between.
pub(super) fn mark(definitions: &mut [Definition]) {
    let contained: Vec<Vec<usize>> = definitions
        .iter()
        .map(|definition| {
            let mut found = Vec::new();
            collect_contained(&definition.ty, &mut found);
            found
        })
        .collect();
    for component in Components::find(&contained) {
        let is_recursive = match component[..] {
            [only] => contained[only].contains(&only),
            _ => true,
        };
        for index in component {
            definitions[index].is_recursive = is_recursive;
        }
    }
}

fn collect_contained(ty: &Type, found: &mut Vec<usize>) {
    match &ty.kind {
        TypeKind::Reference(DefinitionId(index)) => found.push(*index),
        TypeKind::Array(_) => {}
        TypeKind::Object(object) => {
            let fields = object.fields.iter();
            fields.for_each(|field| collect_contained(&field.ty, found));
        }
        TypeKind::Tuple(tuple) => {
            let items = tuple.items.iter();
            items.for_each(|item| collect_contained(item, found));
        }
        _ => ty.for_each_child(&mut |child| collect_contained(child, found)),
    }
}

/// Tarjan's algorithm for strongly connected components, with a stack of its own: a
/// chain of definitions may be long.
struct Components<'a> {
    edges: &'a [Vec<usize>],
    order: Vec<Option<usize>>,
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    visited: usize,
    found: Vec<Vec<usize>>,
}

impl<'a> Components<'a> {
    fn find(edges: &'a [Vec<usize>]) -> Vec<Vec<usize>> {
        let count = edges.len();
        let mut components = Self {
            edges,
            order: vec![None; count],
            lowest: vec![0; count],
            is_open: vec![false; count],
            open: Vec::new(),
            visited: 0,
            found: Vec::new(),
        };
        for start in 0..count {
            if components.order[start].is_none() {
                components.visit(start);
            }
        }
        components.found
    }

    fn visit(&mut self, start: usize) {
        self.enter(start);
        // A definition, and which of its edges is next.
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(&target) = self.edges[node].get(*next) {
                *next += 1;
                match self.order[target] {
                    None => {
                        self.enter(target);
                        path.push((target, 0));
                    }
                    Some(order) if self.is_open[target] => {
                        self.lowest[node] = self.lowest[node].min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.lowest[*parent] = self.lowest[*parent].min(self.lowest[node]);
            }
            if Some(self.lowest[node]) == self.order[node] {
                self.close(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = Some(self.visited);
        self.lowest[node] = self.visited;
        self.visited += 1;
        self.open.push(node);
        self.is_open[node] = true;
    }

    /// Completes the component that was entered at a node.
    fn close(&mut self, node: usize) {
        let start = self.open.iter().rposition(|open| *open == node);
        let component = self.open.split_off(start.unwrap_or_default());
        for node in &component {
            self.is_open[*node] = false;
        }
        self.found.push(component);
    }
}
