//! What references can name in a document: embedded resources and anchors.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::uri;

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

/// The resources of a document. The first is the document itself.
pub(crate) struct Resources {
    resources: Vec<Resource>,
}

/// A schema with an `$id`, or the document, and the anchors in it.
#[derive(Default)]
struct Resource {
    uri: String,
    /// Where it is, as a JSON Pointer.
    pointer: String,
    /// The pointers of schemas with an `$anchor` or a `$dynamicAnchor`.
    anchors: HashMap<String, String>,
    dynamic_anchors: HashMap<String, String>,
}

/// A schema that is still to be visited.
struct Visit<'a> {
    schema: &'a Value,
    pointer: String,
    resource: ResourceId,
}

impl Resources {
    /// Finds all resources and anchors. Only keywords are followed: what looks
    /// like a schema elsewhere is data.
    pub(crate) fn new(document: &Value) -> Self {
        let mut found = Self {
            resources: vec![Resource::default()],
        };
        let mut pending = vec![Visit {
            schema: document,
            pointer: String::new(),
            resource: 0,
        }];
        while let Some(visit) = pending.pop() {
            if let Value::Object(members) = visit.schema {
                let resource = found.register(members, &visit);
                push_subschemas(members, &visit.pointer, resource, &mut pending);
            }
        }
        found
    }

    /// Returns the resource that a schema belongs to.
    pub(crate) fn containing(&self, pointer: &str) -> ResourceId {
        let contains = |resource: &Resource| {
            let inside = pointer.strip_prefix(&*resource.pointer);
            inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('/'))
        };
        let all = self.resources.iter().enumerate();
        all.filter(|(_, resource)| contains(resource))
            .max_by_key(|(_, resource)| resource.pointer.len())
            .map_or(0, |(id, _)| id)
    }

    /// Returns the JSON Pointer of the schema that a reference in a resource
    /// names, if it is in the document.
    pub(crate) fn resolve(&self, from: ResourceId, reference: &str) -> Option<String> {
        let (uri, fragment) = uri::split_fragment(reference);
        let resource = match uri {
            "" => &self.resources[from],
            uri => {
                let uri = uri::resolve(&self.resources[from].uri, uri);
                self.resources.iter().find(|it| it.uri == uri)?
            }
        };
        let fragment = percent_decode(fragment)?;
        match fragment.is_empty() || fragment.starts_with('/') {
            true => Some(format!("{}{fragment}", resource.pointer)),
            false => resource.anchors.get(&fragment).cloned(),
        }
    }

    /// Returns all schemas with this dynamic anchor, by their resource.
    pub(crate) fn dynamic_anchors(&self, name: &str) -> Vec<(ResourceId, String)> {
        let all = self.resources.iter().enumerate();
        all.filter_map(|(id, resource)| Some((id, resource.dynamic_anchors.get(name)?.clone())))
            .collect()
    }

    /// Registers the identifiers of a schema, and returns its resource.
    fn register(&mut self, members: &Map<String, Value>, visit: &Visit<'_>) -> ResourceId {
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        let mut resource = visit.resource;
        if let Some(id) = text("$id") {
            let (id, _) = uri::split_fragment(id);
            let uri = uri::resolve(&self.resources[resource].uri, id);
            if visit.pointer.is_empty() {
                self.resources[0].uri = uri;
            } else {
                resource = self.resources.len();
                self.resources.push(Resource {
                    uri,
                    pointer: visit.pointer.clone(),
                    ..Resource::default()
                });
            }
        }
        let found = &mut self.resources[resource];
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(key) {
                let anchors = &mut found.anchors;
                anchors.insert(name.to_owned(), visit.pointer.clone());
            }
        }
        if let Some(name) = text("$dynamicAnchor") {
            let anchors = &mut found.dynamic_anchors;
            anchors.insert(name.to_owned(), visit.pointer.clone());
        }
        resource
    }
}

fn push_subschemas<'a>(
    members: &'a Map<String, Value>,
    pointer: &str,
    resource: ResourceId,
    pending: &mut Vec<Visit<'a>>,
) {
    for_each_subschema(members, |path, schema| {
        pending.push(Visit {
            schema,
            pointer: format!("{pointer}{path}"),
            resource,
        });
    });
}

/// Visits the schemas directly inside a schema, each with the JSON Pointer that leads
/// there.
pub(crate) fn for_each_subschema<'a>(
    members: &'a Map<String, Value>,
    mut visit: impl FnMut(String, &'a Value),
) {
    for (key, value) in members {
        let key = key.as_str();
        match value {
            Value::Array(list) if SCHEMA_LISTS.contains(&key) => {
                for (at, schema) in list.iter().enumerate() {
                    visit(format!("/{key}/{at}"), schema);
                }
            }
            Value::Object(named) if SCHEMA_MAPS.contains(&key) => {
                for (name, schema) in named {
                    visit(format!("/{key}/{}", escape_token(name)), schema);
                }
            }
            schema if SCHEMAS.contains(&key) => visit(format!("/{key}"), schema),
            _ => {}
        }
    }
}

/// Escapes a member's name as a token of a JSON Pointer.
pub(crate) fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn percent_decode(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
