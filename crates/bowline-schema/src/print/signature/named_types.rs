//! The objects that expressions call by their names, each spelled out once.

use std::collections::{HashSet, VecDeque};

use super::Printer;
use crate::shape::{DefinitionId, Type, TypeKind};

/// The maximum number of types listed.
const MAX_TYPES: usize = 100;

/// A named type, spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedType {
    /// The name.
    pub name: String,
    /// The type.
    pub expression: String,
}

/// Returns the named types reachable from the root, breadth first.
pub(super) fn collect(printer: &Printer<'_>) -> Vec<NamedType> {
    let mut collector = Collector {
        printer,
        found: Vec::new(),
        listed: HashSet::new(),
        visited: HashSet::new(),
        waiting: VecDeque::new(),
    };
    collector.wait(printer.shape.root());
    while let Some(ty) = collector.waiting.pop_front() {
        if collector.found.len() >= MAX_TYPES || !printer.budget.spend(1) {
            break;
        }
        collector.visit(ty);
    }
    collector.found
}

struct Collector<'a> {
    printer: &'a Printer<'a>,
    found: Vec<NamedType>,
    listed: HashSet<DefinitionId>,
    /// Types may be recursive.
    visited: HashSet<DefinitionId>,
    waiting: VecDeque<&'a Type>,
}

impl<'a> Collector<'a> {
    /// Queues a type. What is in lists and alternatives belongs to the type around
    /// them, so it does not have to wait for another turn.
    fn wait(&mut self, ty: &'a Type) {
        match ty.kind {
            TypeKind::Array(_) | TypeKind::Tuple(_) | TypeKind::Union(_) => {
                ty.for_each_child(&mut |child| self.wait(child));
            }
            _ => self.waiting.push_back(ty),
        }
    }

    fn visit(&mut self, ty: &'a Type) {
        let shape = self.printer.shape;
        if let Some(id) = self.printer.name_of(ty)
            && self.listed.insert(id)
        {
            self.list(id);
        }
        match &ty.kind {
            TypeKind::Reference(id) if self.visited.insert(*id) => {
                self.wait_for_contents(&shape.definition(*id).ty);
            }
            TypeKind::Reference(_) => {}
            _ => self.wait_for_contents(ty),
        }
    }

    fn wait_for_contents(&mut self, ty: &'a Type) {
        match ty.kind {
            TypeKind::Reference(_) => self.wait(ty),
            _ => ty.for_each_child(&mut |child| self.wait(child)),
        }
    }

    fn list(&mut self, id: DefinitionId) {
        let definition = self.printer.shape.definition(id);
        let resolved = self.printer.shape.resolve(&definition.ty);
        let TypeKind::Object(object) = &resolved.kind else {
            return;
        };
        let expression = self.printer.object_expression(object);
        // Nothing more is known of an object without members.
        if expression.starts_with("{ ") {
            self.found.push(NamedType {
                name: definition.name.clone(),
                expression,
            });
        }
    }
}
