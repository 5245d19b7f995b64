//! From schemas to types.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::{
    Annotations, Definition, DefinitionId, Type, TypeKind, literals,
    names::Names,
    recursion,
    references::{REFERENCES, References},
    tag, union,
};

/// How many types are made of one document. Parts that apply together are merged, so
/// without a limit a small document could describe a very large type.
pub(super) const MAX_TYPES: usize = 100_000;
/// How many listed values count as one type.
const VALUES_PER_TYPE: usize = 16;
/// How deep types may be nested, apart from references.
const MAX_DEPTH: usize = 48;

/// Returns the types of a document.
pub(super) fn build(document: &Value, max_types: usize) -> Types {
    let mut builder = Builder::new(document, max_types);
    let root = builder.ty(&Location::root(document));
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

/// A schema and where it is.
#[derive(Clone)]
pub(super) struct Location<'a> {
    pub(super) schema: &'a Value,
    pub(super) pointer: String,
}

impl<'a> Location<'a> {
    fn root(document: &'a Value) -> Self {
        Self {
            schema: document,
            pointer: String::new(),
        }
    }

    /// Returns a schema inside this one; `path` is a JSON Pointer.
    pub(super) fn child(&self, path: &str, schema: &'a Value) -> Self {
        Self {
            schema,
            pointer: format!("{}{path}", self.pointer),
        }
    }

    /// Returns the schema in a keyword.
    pub(super) fn keyword(&self, key: &str) -> Option<Self> {
        let schema = self.schema.get(key)?;
        Some(self.child(&format!("/{key}"), schema))
    }

    /// Returns the schemas in a keyword that has a list of them.
    pub(super) fn keyword_list(&self, key: &str) -> Vec<Self> {
        let list = self.schema.get(key).and_then(Value::as_array);
        let list = list.into_iter().flatten().enumerate();
        list.map(|(at, schema)| self.child(&format!("/{key}/{at}"), schema))
            .collect()
    }
}

pub(super) struct Builder<'a> {
    document: &'a Value,
    references: References<'a>,
    definitions: Vec<Definition>,
    by_pointer: HashMap<String, DefinitionId>,
    /// Definitions without a type yet. A queue instead of recursion: a chain of
    /// references may be long.
    waiting: VecDeque<DefinitionId>,
    names: Names,
    /// The definitions that are being merged into another type, by JSON Pointer.
    pub(super) expanding: Vec<String>,
    remaining: usize,
    depth: usize,
}

impl<'a> Builder<'a> {
    fn new(document: &'a Value, max_types: usize) -> Self {
        Self {
            document,
            references: References::new(document),
            definitions: Vec::new(),
            by_pointer: HashMap::new(),
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
        if self.references.is_target(&location.pointer) {
            let id = self.definition_at(&location.pointer);
            return Type::new(TypeKind::Reference(id), &location.pointer);
        }
        self.inline(location)
    }

    /// Returns the type of a schema, spelled out even if it has a name.
    pub(super) fn inline(&mut self, location: &Location<'a>) -> Type {
        let pointer = &location.pointer;
        if !self.spend(1) || !self.enter() {
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
        for reference in REFERENCES {
            if let Some(target) = self.reference(reference, location) {
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
        ty.is_nullable |= members.get("nullable") == Some(&Value::Bool(true)) && !ty.accepts_null();
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
    fn reference(&mut self, key: &str, location: &Location<'a>) -> Option<Type> {
        let target = self.references.target(location.schema, key)?.to_owned();
        let id = self.definition_at(&target);
        Some(Type::new(TypeKind::Reference(id), &location.pointer))
    }

    fn definition_at(&mut self, pointer: &str) -> DefinitionId {
        if let Some(id) = self.by_pointer.get(pointer) {
            return *id;
        }
        let id = DefinitionId(self.definitions.len());
        let schema = self.document.pointer(pointer).unwrap_or(&Value::Null);
        self.definitions.push(Definition {
            name: self.names.assign(pointer, schema),
            pointer: pointer.to_owned(),
            ty: Type::new(TypeKind::Any, pointer),
            is_recursive: false,
        });
        self.by_pointer.insert(pointer.to_owned(), id);
        self.waiting.push_back(id);
        id
    }

    /// Returns the schema of a definition.
    pub(super) fn location_of(&self, id: DefinitionId) -> Location<'a> {
        let pointer = self.definitions[id.0].pointer.clone();
        Location {
            // Only schemas that exist become definitions.
            schema: self.document.pointer(&pointer).unwrap_or(&Value::Null),
            pointer,
        }
    }
}
