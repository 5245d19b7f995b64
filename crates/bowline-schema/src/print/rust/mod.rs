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

/// What generated code calls the types that it uses, and how it is laid out. No item
/// gets the name of such a type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Any JSON value.
    pub value: String,
    /// A JSON object with any members.
    pub object: String,
    /// A map with string keys.
    pub map: String,
    /// The function that decodes a member that may be absent or null.
    pub present: String,
    /// The width of a line of code.
    pub width: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            value: "serde_json::Value".to_owned(),
            object: "serde_json::Map<String, serde_json::Value>".to_owned(),
            map: "std::collections::BTreeMap".to_owned(),
            present: "present".to_owned(),
            width: 100,
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
///     print::rust::{Options, Purpose, RustTypes},
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
/// let mut types = RustTypes::new(Options::default());
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
    options: Options,
    names: HashSet<String>,
    used: BTreeSet<String>,
    items: Vec<String>,
}

impl RustTypes {
    /// Returns an empty module.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let used = [&options.value, &options.object, &options.map];
        Self {
            names: used.into_iter().cloned().collect(),
            options,
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

    /// Returns which types of the [`Options`] the items and expressions use.
    pub fn used(&self) -> impl Iterator<Item = &str> {
        self.used.iter().map(String::as_str)
    }

    fn value(&mut self) -> String {
        self.used.insert(self.options.value.clone());
        self.options.value.clone()
    }

    fn object(&mut self) -> String {
        self.used.insert(self.options.object.clone());
        self.options.object.clone()
    }

    fn map(&mut self, values: &str) -> String {
        self.used.insert(self.options.map.clone());
        format!("{}<String, {values}>", self.options.map)
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
