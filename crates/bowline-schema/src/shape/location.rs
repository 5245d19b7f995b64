//! Where schemas are in their document.

use std::{
    collections::{HashMap, HashSet},
    ptr,
};

use serde_json::Value;

use crate::{
    keyword_value::keyword_value,
    pointer::Walk,
    validate::resources::{Place, ResourceId, Resources, push_subschemas},
};

/// The maximum length of a JSON Pointer that is kept. There may be one for each type,
/// so together they could be much longer than the document.
const MAX_POINTER: usize = 1_024;

/// What stands for a JSON Pointer that is too long.
const TOO_LONG: &str = "/…";

/// A schema and where it is.
#[derive(Clone)]
pub(super) struct Location<'a> {
    resources: &'a Resources<'a>,
    resource: ResourceId,
    pub(super) schema: &'a Value,
    pub(super) pointer: String,
}

impl<'a> Location<'a> {
    /// Returns the location of the document.
    pub(super) fn document(resources: &'a Resources<'a>) -> Self {
        Self::new(resources, resources.document(), String::new())
    }

    fn new(resources: &'a Resources<'a>, place: Place<'a>, pointer: String) -> Self {
        Self {
            resources,
            resource: place.resource,
            schema: place.schema,
            pointer: match pointer.len() > MAX_POINTER {
                true => TOO_LONG.to_owned(),
                false => pointer,
            },
        }
    }

    /// Returns a schema inside this one; `path` is a JSON Pointer.
    pub(super) fn child(&self, path: &str, schema: &'a Value) -> Self {
        let outer = Place {
            schema: self.schema,
            resource: self.resource,
        };
        let place = self.resources.inside(outer, schema);
        let pointer = match self.pointer.as_str() {
            TOO_LONG => TOO_LONG.to_owned(),
            pointer => format!("{pointer}{path}"),
        };
        Self::new(self.resources, place, pointer)
    }

    /// Returns the schema in a keyword.
    pub(super) fn keyword(&self, key: &str) -> Option<Self> {
        let schema = keyword_value(self.schema.as_object()?, key)?;
        Some(self.child(&format!("/{key}"), schema))
    }

    /// Returns the schemas in a keyword that has a list of them.
    pub(super) fn keyword_list(&self, key: &str) -> Vec<Self> {
        let members = self.schema.as_object();
        let list = members.and_then(|members| keyword_value(members, key));
        let list = list.and_then(Value::as_array);
        let list = list.into_iter().flatten().enumerate();
        list.map(|(at, schema)| self.child(&format!("/{key}/{at}"), schema))
            .collect()
    }

    /// Returns the schema that a reference in this one names.
    pub(super) fn referenced(&self, reference: &str, targets: &Targets) -> Option<Self> {
        let place = self.resources.resolve(self.resource, reference).ok()?;
        let pointer = targets.pointers.get(&ptr::from_ref(place.schema))?;
        Some(Self::new(self.resources, place, pointer.clone()))
    }

    /// Returns the address of the schema, which identifies it.
    pub(super) fn address(&self) -> *const Value {
        self.schema
    }
}

/// The schemas that references name, by address, and their JSON Pointers.
pub(super) struct Targets {
    pointers: HashMap<*const Value, String>,
}

impl Targets {
    /// Finds them.
    pub(super) fn find(resources: &Resources<'_>) -> Self {
        let named = named_schemas(resources);
        let pointers = match named.is_empty() {
            true => HashMap::new(),
            false => pointers_to(&named, resources.document().schema),
        };
        Self { pointers }
    }

    /// Returns whether a reference names this schema.
    pub(super) fn contains(&self, location: &Location<'_>) -> bool {
        self.pointers.contains_key(&location.address())
    }
}

fn named_schemas(resources: &Resources<'_>) -> HashSet<*const Value> {
    let mut named = HashSet::new();
    let mut pending = vec![resources.document()];
    while let Some(outer) = pending.pop() {
        let place = resources.inside(outer, outer.schema);
        let Value::Object(members) = place.schema else {
            continue;
        };
        for key in ["$ref", "$dynamicRef"] {
            if let Some(reference) = keyword_value(members, key).and_then(Value::as_str)
                && let Ok(target) = resources.resolve(place.resource, reference)
            {
                named.insert(ptr::from_ref(target.schema));
            }
        }
        push_subschemas(members, place.resource, &mut pending);
    }
    named
}

/// Returns the JSON Pointers of values, in one walk: a search for each would take long.
fn pointers_to(named: &HashSet<*const Value>, document: &Value) -> HashMap<*const Value, String> {
    let mut pointers = HashMap::new();
    let mut walk = Walk::new(document);
    while let Some((position, value)) = walk.next() {
        let address = ptr::from_ref(value);
        if named.contains(&address) {
            let pointer = walk.pointer(position, MAX_POINTER);
            pointers.insert(address, pointer.unwrap_or_else(|| TOO_LONG.to_owned()));
        }
    }
    pointers
}
