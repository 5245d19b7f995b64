//! Rust types for shapes, with serde's derives.
//!
//! Every value that is valid for the schema decodes into the type and encodes to an
//! equal value, with these exceptions: whole numbers are `i64` or `u64` and other
//! numbers `f64`, and an integer that is written as `1.0` does not decode.

mod constructor;
mod docs;
mod enums;
mod expression;
mod identifier;
mod structs;
mod usage;

use std::collections::{BTreeSet, HashSet};

use self::expression::Printer;
pub use self::{
    docs::doc_comment,
    identifier::{field_name, function_name, string_literal, type_name},
};
use crate::shape::Shape;

/// What generated code calls the types that it uses. No item gets one of these names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Paths {
    /// Any JSON value.
    pub value: String,
    /// A JSON object with any members.
    pub object: String,
    /// A map with string keys.
    pub map: String,
    /// The function that decodes a member that may be absent or null.
    pub present: String,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            value: "serde_json::Value".to_owned(),
            object: "serde_json::Map<String, serde_json::Value>".to_owned(),
            map: "std::collections::BTreeMap".to_owned(),
            present: "present".to_owned(),
        }
    }
}

/// What values of a type are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Programs make them, so types have constructors and setters.
    Make,
    /// Programs read them.
    Read,
}

/// Items for the types of shapes, in one module.
///
/// ```
/// use bowline_schema::{
///     print::rust::{Paths, Purpose, RustTypes},
///     shape::Shape,
/// };
/// use serde_json::json;
///
/// let shape = Shape::new(json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "description": "Where"}},
///     "required": ["city"],
///     "additionalProperties": false,
/// }));
/// let mut types = RustTypes::new(Paths::default());
/// assert_eq!(types.add(&shape, "Output", Purpose::Read), "Output");
/// assert_eq!(
///     types.items(),
///     "\
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
/// pub struct Output {
///     /// Where
///     pub city: String,
/// }
/// "
/// );
/// ```
#[derive(Debug)]
pub struct RustTypes {
    paths: Paths,
    names: HashSet<String>,
    used: BTreeSet<String>,
    items: Vec<String>,
}

impl RustTypes {
    /// Returns an empty module.
    #[must_use]
    pub fn new(paths: Paths) -> Self {
        let used = [&paths.value, &paths.object, &paths.map];
        Self {
            names: used.into_iter().cloned().collect(),
            paths,
            used: BTreeSet::new(),
            items: Vec::new(),
        }
    }

    /// Keeps a name free, for [`add`](Self::add) or for an item of the caller's.
    pub fn reserve(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Adds the items for a shape, and returns the expression for its type. If that is
    /// an item, it has this name, and otherwise no item has it.
    pub fn add(&mut self, shape: &Shape, name: &str, purpose: Purpose) -> String {
        self.reserve(name);
        Printer::new(self, shape, purpose).print(name)
    }

    /// Returns which of the [`Paths`] the items and expressions use.
    pub fn used(&self) -> impl Iterator<Item = &str> {
        self.used.iter().map(String::as_str)
    }

    fn value(&mut self) -> String {
        self.used.insert(self.paths.value.clone());
        self.paths.value.clone()
    }

    fn object(&mut self) -> String {
        self.used.insert(self.paths.object.clone());
        self.paths.object.clone()
    }

    fn map(&mut self, values: &str) -> String {
        self.used.insert(self.paths.map.clone());
        format!("{}<String, {values}>", self.paths.map)
    }

    /// Returns the items, separated by empty lines.
    #[must_use]
    pub fn items(&self) -> String {
        self.items.join("\n")
    }

    /// Returns a name that no other item has.
    fn free_name(&mut self, wanted: &str) -> String {
        let wanted = type_name(wanted);
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
        let free = candidates.find(|name| self.names.insert(name.clone()));
        free.unwrap_or(wanted)
    }
}
