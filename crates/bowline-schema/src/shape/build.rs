//! From schemas to types.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::{
    Annotations, Definition, DefinitionId, Type, TypeKind, literals,
    location::{Location, Targets},
    names::Names,
    recursion, tag, union,
};
use crate::{keyword_value::keyword_value, validate::resources::Resources};

/// How many types are made of one document. Parts that apply together are merged, so
/// without a limit a small document could describe a very large type.
pub(super) const MAX_TYPES: usize = 100_000;
/// How many listed values count as one type.
const VALUES_PER_TYPE: usize = 16;
/// How many characters of a JSON Pointer count as one type: each type has one.
const POINTER_PER_TYPE: usize = 256;
/// How deep types may be nested, apart from references.
const MAX_DEPTH: usize = 48;

/// Returns the types of a document.
pub(super) fn build(document: &Value, max_types: usize) -> Types {
    let resources = Resources::new(document);
    let mut builder = Builder::new(&resources, max_types);
    let root = builder.ty(&Location::document(&resources));
    builder.build_waiting();
    let mut types = Types {
        root,
        definitions: builder.definitions,
        type_count: max_types - builder.remaining,
    };
    recursion::mark(&mut types.definitions);
    tag::find_tags(&mut types);
    types
}

/// All types of a document.
pub(super) struct Types {
    pub(super) root: Type,
    pub(super) definitions: Vec<Definition>,
    /// How many were made, including those that were merged into others.
    pub(super) type_count: usize,
}

pub(super) struct Builder<'a> {
    resources: &'a Resources<'a>,
    targets: Targets,
    definitions: Vec<Definition>,
    /// Where the definitions are.
    locations: Vec<Location<'a>>,
    /// The definitions, by the addresses of their schemas.
    by_address: HashMap<*const Value, DefinitionId>,
    /// Definitions without a type yet. A queue instead of recursion: a chain of
    /// references may be long.
    waiting: VecDeque<DefinitionId>,
    names: Names,
    /// The definitions that are being merged into another type.
    pub(super) expanding: Vec<DefinitionId>,
    remaining: usize,
    depth: usize,
}

impl<'a> Builder<'a> {
    fn new(resources: &'a Resources<'a>, max_types: usize) -> Self {
        Self {
            resources,
            targets: Targets::find(resources),
            definitions: Vec::new(),
            locations: Vec::new(),
            by_address: HashMap::new(),
            waiting: VecDeque::new(),
            names: Names::default(),
            expanding: Vec::new(),
            remaining: max_types,
            depth: 0,
        }
    }

    fn build_waiting(&mut self) {
        while let Some(id) = self.waiting.pop_front() {
            let location = self.location_of(id);
            self.definitions[id.0].ty = self.inline(&location);
        }
    }

    /// Counts this many types. Returns false if there are too many.
    pub(super) fn spend(&mut self, types: usize) -> bool {
        let remaining = self.remaining.checked_sub(types);
        self.remaining = remaining.unwrap_or_default();
        remaining.is_some()
    }

    /// Returns the type of a schema: a reference if it is one that references name.
    pub(super) fn ty(&mut self, location: &Location<'a>) -> Type {
        if self.targets.contains(location) {
            let id = self.definition_at(location);
            return Type::new(TypeKind::Reference(id), &location.pointer);
        }
        self.inline(location)
    }

    /// Returns the type of a schema, spelled out even if it has a name.
    pub(super) fn inline(&mut self, location: &Location<'a>) -> Type {
        let pointer = &location.pointer;
        if !self.spend(1 + pointer.len() / POINTER_PER_TYPE) || !self.enter() {
            return Type::new(TypeKind::Any, pointer);
        }
        let ty = match location.schema {
            Value::Object(members) => self.schema(members, location),
            Value::Bool(false) => Type::new(TypeKind::Never, pointer),
            _ => Type::new(TypeKind::Any, pointer),
        };
        self.leave();
        ty
    }

    /// Goes one level deeper. Returns false if that is too deep.
    pub(super) fn enter(&mut self) -> bool {
        let is_possible = self.depth < MAX_DEPTH;
        self.depth += usize::from(is_possible);
        is_possible
    }

    /// Goes back one level.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Merges everything that a schema says about the same value.
    fn schema(&mut self, members: &'a Map<String, Value>, location: &Location<'a>) -> Type {
        let mut ty = self.own_type(members, location);
        for reference in ["$ref", "$dynamicRef"] {
            if let Some(target) = self.reference(members, reference, location) {
                ty = self.intersect(ty, target);
            }
        }
        for part in location.keyword_list("allOf") {
            let part = self.ty(&part);
            ty = self.intersect(ty, part);
        }
        for key in ["anyOf", "oneOf"] {
            let variants = location.keyword_list(key);
            if !variants.is_empty() && !variants.iter().all(union::only_requires) {
                ty = self.one_of(ty, &variants);
            }
        }
        // Not a keyword of JSON Schema, but of schemas from OpenAPI 3.0.
        ty.is_nullable |=
            keyword_value(members, "nullable") == Some(&Value::Bool(true)) && !ty.accepts_null();
        ty.annotations = Annotations::read(members).or(ty.annotations);
        ty.pointer.clone_from(&location.pointer);
        ty
    }

    /// Returns the type that the keywords of the schema itself describe.
    fn own_type(&mut self, members: &'a Map<String, Value>, location: &Location<'a>) -> Type {
        if let Some(values) = literals::listed_values(members) {
            // A list may be long, and be copied often.
            return match self.spend(values.len() / VALUES_PER_TYPE) {
                true => literals::literals(values, members, &location.pointer),
                false => Type::new(TypeKind::Any, &location.pointer),
            };
        }
        let kinds = literals::json_types(members);
        if kinds.is_empty() {
            return Type::new(TypeKind::Any, &location.pointer);
        }
        let types = kinds
            .into_iter()
            .map(|kind| self.of_json_type(kind, members, location));
        union::union(types.collect(), &location.pointer)
    }

    /// Returns the type that a reference in a schema names.
    fn reference(
        &mut self,
        members: &Map<String, Value>,
        key: &str,
        location: &Location<'a>,
    ) -> Option<Type> {
        let reference = keyword_value(members, key)?.as_str()?;
        let target = location.referenced(reference, &self.targets)?;
        // A dynamic reference may lead elsewhere, depending on where it is used.
        if key == "$dynamicRef" && self.resources.dynamic_anchors(anchor(reference)).len() > 1 {
            return None;
        }
        let id = self.definition_at(&target);
        Some(Type::new(TypeKind::Reference(id), &location.pointer))
    }

    fn definition_at(&mut self, location: &Location<'a>) -> DefinitionId {
        if let Some(id) = self.by_address.get(&location.address()) {
            return *id;
        }
        let id = DefinitionId(self.definitions.len());
        let pointer = &location.pointer;
        self.definitions.push(Definition {
            name: self.names.assign(pointer, location.schema),
            pointer: pointer.clone(),
            ty: Type::new(TypeKind::Any, pointer),
            is_recursive: false,
        });
        self.locations.push(location.clone());
        self.by_address.insert(location.address(), id);
        self.waiting.push_back(id);
        id
    }

    /// Returns the schema of a definition.
    pub(super) fn location_of(&self, id: DefinitionId) -> Location<'a> {
        self.locations[id.0].clone()
    }
}

fn anchor(reference: &str) -> &str {
    reference.split_once('#').map_or("", |(_, anchor)| anchor)
}
