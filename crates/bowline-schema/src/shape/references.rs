//! The references of a document, and where they lead.

use std::{
    collections::{HashMap, HashSet},
    ptr,
};

use serde_json::Value;

use crate::validate::resources::{Place, ResourceId, Resources, escape_token, subschemas};

/// Keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

pub(super) struct References<'a> {
    resources: Resources<'a>,
    /// The resources of the schemas that have references, by the address of the schema.
    sources: HashMap<*const Value, ResourceId>,
    /// Where the schemas are that references name, by their address.
    pointers: HashMap<*const Value, String>,
    targets: HashSet<String>,
}

impl<'a> References<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        let mut references = Self {
            resources: Resources::new(document),
            sources: HashMap::new(),
            pointers: HashMap::new(),
            targets: HashSet::new(),
        };
        let named = references.find_named();
        if !named.is_empty() {
            references.locate(document, &named);
        }
        references
    }

    /// Returns whether a reference names the schema at a JSON Pointer.
    pub(super) fn is_target(&self, pointer: &str) -> bool {
        self.targets.contains(pointer)
    }

    /// Returns where the schema is that a keyword of a schema names. A dynamic reference
    /// that may lead to several schemas, depending on where it is used, names none.
    pub(super) fn target(&self, schema: &'a Value, key: &str) -> Option<&str> {
        let reference = schema.get(key)?.as_str()?;
        let from = self.sources.get(&ptr::from_ref(schema))?;
        let target = self.resources.resolve(*from, reference).ok()?;
        let (_, anchor) = reference.split_once('#').unwrap_or_default();
        if key == "$dynamicRef" && self.resources.dynamic_anchors(anchor).len() > 1 {
            return None;
        }
        let pointer = self.pointers.get(&ptr::from_ref(target.schema));
        pointer.map(String::as_str)
    }

    /// Returns the addresses of all schemas that references name.
    fn find_named(&mut self) -> HashSet<*const Value> {
        let mut named = HashSet::new();
        let mut pending = vec![self.resources.document()];
        while let Some(place) = pending.pop() {
            let Value::Object(members) = place.schema else {
                continue;
            };
            for key in REFERENCES {
                let reference = members.get(key).and_then(Value::as_str);
                let Some(reference) = reference else { continue };
                let address = ptr::from_ref(place.schema);
                self.sources.insert(address, place.resource);
                let target = self.resources.resolve(place.resource, reference);
                named.extend(target.ok().map(|target| ptr::from_ref(target.schema)));
            }
            let inner = subschemas(members);
            pending
                .extend(inner.map(|schema: &'a Value| -> Place<'a> {
                    self.resources.inside(place, schema)
                }));
        }
        named
    }

    /// Finds out where values are. References may lead anywhere in the document.
    fn locate(&mut self, document: &'a Value, named: &HashSet<*const Value>) {
        let mut pending = vec![(document, String::new())];
        while let Some((value, pointer)) = pending.pop() {
            let address = ptr::from_ref(value);
            match value {
                Value::Object(members) => pending.extend(members.iter().map(|(name, member)| {
                    let name = escape_token(name);
                    (member, format!("{pointer}/{name}"))
                })),
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    pending.extend(items.map(|(at, item)| (item, format!("{pointer}/{at}"))));
                }
                _ => {}
            }
            if named.contains(&address) {
                self.targets.insert(pointer.clone());
                self.pointers.insert(address, pointer);
            }
        }
    }
}
