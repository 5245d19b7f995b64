//! JSON Schema validation.
//!
//! Supports everything in draft 2020-12 that describes values in one document.
//! Keywords for documents that refer to each other (nested `$id`, dynamic
//! references) and `unevaluatedItems` are rejected by name when a schema is
//! compiled, so nothing is silently ignored. Formats are annotations, as the
//! draft defines them.

mod anchors;
mod budget;
mod check;
mod compile;
#[cfg(test)]
mod cost_tests;
mod display;
mod equal;
mod evaluated;
mod hashed;
mod keyword;
mod pattern;
mod recursion;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use self::budget::SharedBudget;
use self::{
    budget::{CheckBudget, MAX_STEPS},
    check::Check,
    compile::Compiler,
    keyword::Keyword,
};

/// A compiled schema.
#[derive(Clone, Debug)]
pub(crate) struct Validator {
    /// All schemas within the schema, the root first. They refer to each other
    /// by index.
    nodes: Vec<Vec<Keyword>>,
}

/// A violation of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValidationError {
    /// The location, as a JSON Pointer.
    pub(crate) pointer: String,
    /// What is wrong there.
    pub(crate) message: String,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid schema, has a reference that it
    /// does not contain, or uses a keyword that is not supported.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let nodes = Compiler::new(schema).compile()?;
        Ok(Self { nodes })
    }

    /// Returns whether a value is valid. A value that needs more work than the
    /// budget of its frame allows is not.
    pub(crate) fn is_valid_with_budget(&self, value: &Value, shared_budget: &SharedBudget) -> bool {
        shared_budget.with_budget(|budget| self.check_fail_fast(value, budget))
    }

    /// Returns whether a value that is not part of a batch is valid.
    #[cfg(test)]
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.is_valid_with_budget(value, &SharedBudget::default())
    }

    fn check_fail_fast(&self, value: &Value, budget: &CheckBudget) -> bool {
        // If the check ends early, keywords such as `not` would invert the
        // result.
        Check::fail_fast(&self.nodes, budget).check_root(value) && !budget.is_exhausted()
    }

    /// Returns the violations: the first ones, if there are many. Exceeding the
    /// budget is one too.
    pub(crate) fn errors_with_budget(
        &self,
        value: &Value,
        shared_budget: &SharedBudget,
    ) -> Vec<ValidationError> {
        shared_budget.with_budget(|budget| self.collect_errors(value, budget))
    }

    /// Returns the violations of a value that is not part of a batch.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn errors(&self, value: &Value) -> Vec<ValidationError> {
        self.errors_with_budget(value, &SharedBudget::default())
    }

    fn collect_errors(&self, value: &Value, budget: &CheckBudget) -> Vec<ValidationError> {
        let mut check = Check::collect_all(&self.nodes, budget);
        check.check_root(value);
        if budget.is_exhausted() {
            // The violations found so far may be artifacts of the early end.
            return vec![too_complex()];
        }
        check.errors
    }
}

fn too_complex() -> ValidationError {
    ValidationError {
        pointer: String::new(),
        message: format!(
            "this is too much to check against the schema (it exceeds the limit of {MAX_STEPS} steps, or \
             what the rest of its batch left); send less data at once"
        ),
    }
}
