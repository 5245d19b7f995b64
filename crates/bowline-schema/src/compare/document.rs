//! A schema document: its schemas, and what references in it name.

use std::collections::{HashMap, hash_map::Entry};

use serde_json::{Map, Value};

use super::{keyword::Role, report::Version};
use crate::pointer::{parse_index, percent_decode, unescape_token};

/// The address of a value, which tells it from all others in its document.
pub(super) type Address = usize;

/// The index of a resource in its document.
type ResourceId = u32;

/// A schema in a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) version: Version,
    resource: ResourceId,
}

/// What a reference names.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    Schema(Node<'a>),
    /// A schema in another document, by its URI.
    Elsewhere(&'a str),
    /// Nothing: the reference is not valid.
    Nothing,
    /// What cannot be determined here.
    Unknown,
}

/// A document and the resources in it. The first is the document itself.
pub(super) struct Document<'a> {
    root: Node<'a>,
    resources: Vec<Resource<'a>>,
    /// The resources other than the document, by their address.
    by_address: HashMap<Address, ResourceId>,
    /// Whether there is an `$id` that is not absolute. What it means depends on
    /// where the document is from, which is not known here.
    has_relative_id: bool,
}

/// A schema with an `$id`, or the document, and the anchors in it.
struct Resource<'a> {
    value: &'a Value,
    uri: Option<&'a str>,
    /// The schemas with an anchor; `None` if several have the same.
    anchors: HashMap<&'a str, Option<Node<'a>>>,
}

/// Returns the address of a value.
pub(super) fn address(value: &Value) -> Address {
    std::ptr::from_ref(value) as Address
}

impl<'a> Node<'a> {
    /// Returns the number of this schema, which differs from all others in both
    /// documents.
    pub(super) fn key(self) -> usize {
        // Addresses are even. One document may be a part of the other.
        address(self.value) | usize::from(self.version == Version::New)
    }

    pub(super) fn members(self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    pub(super) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.members()?.get(keyword)
    }

    pub(super) fn has(self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }
}

impl<'a> Document<'a> {
    /// Finds the resources and anchors of a document.
    pub(super) fn new(value: &'a Value, version: Version) -> Self {
        let root = Node {
            value,
            version,
            resource: 0,
        };
        let mut document = Self {
            root,
            resources: vec![Resource {
                value,
                uri: None,
                anchors: HashMap::new(),
            }],
            by_address: HashMap::new(),
            has_relative_id: false,
        };
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if let Some(members) = node.members() {
                let node = document.register(node, members);
                for child in subschemas(members) {
                    pending.push(Node {
                        value: child,
                        ..node
                    });
                }
            }
        }
        document
    }

    pub(super) fn root(&self) -> Node<'a> {
        self.root
    }

    pub(super) fn is_root(&self, node: Node<'a>) -> bool {
        address(node.value) == address(self.root.value)
    }

    /// Returns a schema within another.
    pub(super) fn child(&self, parent: Node<'a>, value: &'a Value) -> Node<'a> {
        let resource = self.by_address.get(&address(value)).copied();
        Node {
            value,
            resource: resource.unwrap_or(parent.resource),
            ..parent
        }
    }

    /// Returns the schema that a `$ref` or `$dynamicRef` in a schema names.
    pub(super) fn resolve(
        &self,
        from: Node<'a>,
        keyword: &str,
        reference: &'a Value,
    ) -> Target<'a> {
        let Value::String(reference) = reference else {
            return Target::Nothing;
        };
        // With one resource there is one candidate for a dynamic reference.
        if keyword == "$dynamicRef" && self.resources.len() > 1 {
            return Target::Unknown;
        }
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match uri {
            "" => from.resource,
            _ if self.has_relative_id => return Target::Unknown,
            uri => match self.resource_named(uri) {
                Named::One(resource) => resource,
                Named::None => return Target::Elsewhere(reference),
                Named::Unknown => return Target::Unknown,
            },
        };
        self.at_fragment(resource, fragment)
            .unwrap_or(Target::Nothing)
    }

    fn resource_named(&self, uri: &str) -> Named {
        let has_ids = self.resources.iter().any(|it| it.uri.is_some());
        if has_ids && !is_absolute(uri) {
            return Named::Unknown;
        }
        let mut named = (0..).zip(&self.resources);
        let mut named = named.by_ref().filter(|(_, it)| it.uri == Some(uri));
        match (named.next(), named.next()) {
            (None, _) => Named::None,
            (Some((resource, _)), None) => Named::One(resource),
            _ => Named::Unknown,
        }
    }

    /// Returns what a fragment names in a resource, or `None` if that is nothing.
    fn at_fragment(&self, resource: ResourceId, fragment: &str) -> Option<Target<'a>> {
        let fragment = percent_decode(fragment)?;
        let found = self.resources.get(usize::try_from(resource).ok()?)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let anchored = found.anchors.get(&*fragment)?;
            return Some(anchored.map_or(Target::Unknown, Target::Schema));
        }
        let mut node = Node {
            value: found.value,
            resource,
            ..self.root
        };
        for token in fragment.split('/').skip(1) {
            let token = unescape_token(token);
            let next = match node.value {
                Value::Object(members) => members.get(&token)?,
                Value::Array(items) => items.get(parse_index(&token)?)?,
                _ => return None,
            };
            node = self.child(node, next);
        }
        Some(Target::Schema(node))
    }

    /// Registers the identifiers of a schema, and returns it with its resource.
    fn register(&mut self, node: Node<'a>, members: &'a Map<String, Value>) -> Node<'a> {
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        let mut node = node;
        if let Some(id) = text("$id") {
            let uri = id.split('#').next().unwrap_or_default();
            let uri = Some(uri).filter(|uri| is_absolute(uri));
            self.has_relative_id |= uri.is_none();
            if self.is_root(node) {
                self.resources[0].uri = uri;
            } else {
                node.resource = ResourceId::try_from(self.resources.len()).unwrap_or(0);
                self.by_address.insert(address(node.value), node.resource);
                self.resources.push(Resource {
                    value: node.value,
                    uri,
                    anchors: HashMap::new(),
                });
            }
        }
        for name in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            let Some(resource) = self.resources.get_mut(node.resource as usize) else {
                continue;
            };
            match resource.anchors.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(Some(node));
                }
                Entry::Occupied(mut entry) => {
                    let is_same = entry.get().is_some_and(|it| it.key() == node.key());
                    entry.insert(Some(node).filter(|_| is_same));
                }
            }
        }
        node
    }
}

/// The resources with a URI.
enum Named {
    None,
    One(ResourceId),
    Unknown,
}

/// Returns the schemas directly within a schema.
fn subschemas(members: &Map<String, Value>) -> Vec<&Value> {
    let mut found: Vec<&Value> = Vec::new();
    for (keyword, value) in members {
        match (Role::of(keyword), value) {
            (Role::Schema, schema) => found.push(schema),
            (Role::SchemaOrList | Role::SchemaList, Value::Array(list)) => found.extend(list),
            (Role::SchemaOrList, schema) => found.push(schema),
            (Role::SchemaMap | Role::Dependencies | Role::Definitions, Value::Object(named)) => {
                found.extend(named.values());
            }
            _ => {}
        }
    }
    found
}

/// Returns whether a URI begins with a scheme.
fn is_absolute(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}
