//! What references can name in a document: embedded resources and anchors.
//!
//! Schemas are identified by where they are in memory, not by their pointers: the
//! pointers of a document may together be much longer than the document.

use std::{collections::HashMap, ptr};

use serde_json::{Map, Value};

use super::uri;
use crate::{
    keyword_value::keyword_value,
    pointer::{parse_index, percent_decode, unescape_token},
};

/// Keywords whose value is a schema.
const SCHEMAS: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is an array of schemas.
const SCHEMA_LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is an object with schemas as members.
const SCHEMA_MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// The index of a resource in its document.
pub(crate) type ResourceId = usize;

/// A schema in a document, and the resource that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) schema: &'a Value,
    pub(crate) resource: ResourceId,
}

/// The resources of a document. The first is the document itself.
pub(crate) struct Resources<'a> {
    resources: Vec<Resource<'a>>,
    by_uri: HashMap<String, ResourceId>,
    /// The resources, by the address of their schema.
    by_address: HashMap<*const Value, ResourceId>,
    /// The schemas with a `$dynamicAnchor`, by its name.
    dynamic_anchors: HashMap<&'a str, Vec<Place<'a>>>,
}

/// A schema with an `$id`, or the document, and the anchors in it.
struct Resource<'a> {
    uri: String,
    schema: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> Resources<'a> {
    /// Finds all resources and anchors. Only keywords are followed: what looks
    /// like a schema elsewhere is data.
    pub(crate) fn new(document: &'a Value) -> Self {
        let mut found = Self {
            resources: vec![Resource::new(String::new(), document)],
            by_uri: HashMap::new(),
            by_address: HashMap::new(),
            dynamic_anchors: HashMap::new(),
        };
        let mut pending = vec![found.document()];
        while let Some(mut place) = pending.pop() {
            if let Value::Object(members) = place.schema {
                place.resource = found.register(members, place);
                push_subschemas(members, place.resource, &mut pending);
            }
        }
        found
    }

    /// Returns the document.
    pub(crate) fn document(&self) -> Place<'a> {
        Place {
            schema: self.resources[0].schema,
            resource: 0,
        }
    }

    /// Returns the place of a value inside of a schema.
    pub(crate) fn inside(&self, outer: Place<'a>, schema: &'a Value) -> Place<'a> {
        let own = self.by_address.get(&ptr::from_ref(schema));
        let resource = own.copied().unwrap_or(outer.resource);
        Place { schema, resource }
    }

    /// Returns the schema that a reference in a resource names.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the reference if the document does not have it.
    pub(crate) fn resolve(
        &self,
        from: ResourceId,
        reference: &str,
    ) -> Result<Place<'a>, &'static str> {
        let (uri, fragment) = uri::split_fragment(reference);
        let resource = match uri {
            "" => from,
            uri => {
                let uri = uri::resolve(&self.resources[from].uri, uri);
                let found = self.by_uri.get(&uri);
                *found.ok_or("refers outside of the schema")?
            }
        };
        let named = percent_decode(fragment).and_then(|name| self.named(resource, &name));
        named.ok_or("refers to what does not exist")
    }

    /// Returns the schema with a name in a resource: a JSON Pointer or an anchor.
    fn named(&self, resource: ResourceId, name: &str) -> Option<Place<'a>> {
        let found = &self.resources[resource];
        let root = Place {
            schema: found.schema,
            resource,
        };
        if !name.is_empty() && !name.starts_with('/') {
            return Some(self.inside(root, found.anchors.get(name)?));
        }
        let mut tokens = name.split('/').skip(1);
        tokens.try_fold(root, |place, token| {
            let inner = match place.schema {
                Value::Object(members) => members.get(&unescape_token(token)),
                Value::Array(items) => items.get(parse_index(token)?),
                _ => None,
            };
            Some(self.inside(place, inner?))
        })
    }

    /// Returns all schemas with this dynamic anchor.
    pub(crate) fn dynamic_anchors(&self, name: &str) -> &[Place<'a>] {
        let found = self.dynamic_anchors.get(name);
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// Registers the identifiers of a schema, and returns its resource.
    fn register(&mut self, members: &'a Map<String, Value>, place: Place<'a>) -> ResourceId {
        let text = |key: &str| keyword_value(members, key).and_then(Value::as_str);
        let (id, anchor_in_id) = text("$id").map_or(("", ""), uri::split_fragment);
        let mut resource = place.resource;
        if !id.is_empty() {
            let uri = uri::resolve(&self.resources[resource].uri, id);
            if ptr::eq(place.schema, self.resources[0].schema) {
                self.resources[0].uri.clone_from(&uri);
            } else {
                resource = self.resources.len();
                self.resources
                    .push(Resource::new(uri.clone(), place.schema));
                self.by_address
                    .insert(ptr::from_ref(place.schema), resource);
            }
            self.by_uri.entry(uri).or_insert(resource);
        }
        // In an older draft an anchor was an identifier that is only a fragment.
        let legacy = Some(anchor_in_id).filter(|name| id.is_empty() && !name.is_empty());
        let names = [text("$anchor"), text("$dynamicAnchor"), legacy];
        let anchors = &mut self.resources[resource].anchors;
        anchors.extend(names.into_iter().flatten().map(|name| (name, place.schema)));
        if let Some(name) = text("$dynamicAnchor") {
            let place = Place { resource, ..place };
            self.dynamic_anchors.entry(name).or_default().push(place);
        }
        resource
    }
}

impl<'a> Resource<'a> {
    fn new(uri: String, schema: &'a Value) -> Self {
        Self {
            uri,
            schema,
            anchors: HashMap::new(),
        }
    }
}

pub(crate) fn push_subschemas<'a>(
    members: &'a Map<String, Value>,
    resource: ResourceId,
    pending: &mut Vec<Place<'a>>,
) {
    for (key, value) in members {
        let key = key.as_str();
        let place = |schema| Place { schema, resource };
        match value {
            Value::Array(list) if SCHEMA_LISTS.contains(&key) => {
                pending.extend(list.iter().map(place));
            }
            Value::Object(named) if SCHEMA_MAPS.contains(&key) => {
                pending.extend(named.values().map(place));
            }
            schema if SCHEMAS.contains(&key) => pending.push(place(schema)),
            _ => {}
        }
    }
}
