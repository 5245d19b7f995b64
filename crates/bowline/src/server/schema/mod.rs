//! Whether a value fits a JSON Schema, and where it does not.
//!
//! Of the draft 2020-12 this has all that describes values in one document.
//! What only documents that refer to each other need (`$id` within, dynamic
//! references) and `unevaluatedItems` are refused when a schema is prepared, by
//! name, so that nothing is ever passed over. Formats are
//! annotations, as the draft has them.

mod anchors;
mod check;
mod compile;
mod equal;
mod evaluated;
mod keyword;
mod refs;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::{check::Check, compile::Compiler, keyword::Keyword};

/// A schema, ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Validator {
    /// All schemas within the schema, that itself first. They refer to each
    /// other by their places here.
    nodes: Vec<Vec<Keyword>>,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where it is, as a JSON Pointer.
    pub(crate) place: String,
    /// What is wrong there.
    pub(crate) message: String,
}

impl Validator {
    /// Prepares a schema.
    ///
    /// # Errors
    ///
    /// Where it is none, refers to what is not in it, or has a keyword that is
    /// not understood here.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let nodes = Compiler::new(schema).compile()?;
        Ok(Self { nodes })
    }

    /// Whether a value fits.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        Check::quick(&self.nodes).root(value)
    }

    /// All that does not fit.
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        let mut check = Check::thorough(&self.nodes);
        check.root(value);
        check.faults
    }
}
