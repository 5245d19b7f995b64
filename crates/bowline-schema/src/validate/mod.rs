//! Validation of values against a compiled schema.
//!
//! Supports everything in draft 2020-12 within one document, including embedded
//! resources and dynamic references. References to other documents, and the
//! recursive references of an older draft, are rejected when a schema is compiled,
//! so nothing is silently ignored. Formats are annotations, as the draft defines
//! them, unless [`ValidatorOptions`] say otherwise.

mod budget;
mod check;
mod compile;
mod declared;
mod display;
pub(crate) mod equal;
mod error;
mod error_kind;
mod evaluated;
mod explain;
mod explain_members;
mod format;
mod hashed;
mod json_type;
mod keyword;
mod location;
mod member_table;
mod members;
mod options;
pub(crate) mod pattern;
mod pointer;
mod recursion;
pub(crate) mod resources;
mod schema_reader;
pub(crate) mod simple_pattern;
mod summary;
#[cfg(test)]
mod tests;
mod union;
mod uri;
mod violation;

use serde_json::Value;

pub use self::{
    budget::Budget,
    error::{SchemaError, ValidationError, describe},
    error_kind::ValidationErrorKind,
    json_type::JsonType,
    options::ValidatorOptions,
};
use self::{
    budget::{CheckBudget, MAX_STEPS},
    check::Check,
    compile::Compiled,
    error::Detail,
    explain::Explanation,
    keyword::Schema,
    location::Location,
};

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct Validator {
    compiled: Compiled,
}

impl Validator {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid schema, has a reference that it
    /// does not contain, or uses a keyword that is not supported.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        Self::options().compile(schema)
    }

    /// Returns the options, with which schemas can be compiled to be stricter or more
    /// lenient than the draft.
    pub fn options() -> ValidatorOptions {
        ValidatorOptions::default()
    }

    /// Returns a schema that no value matches.
    #[must_use]
    pub fn reject_all() -> Self {
        Self {
            compiled: Compiled {
                nodes: vec![Schema::never()],
                ..Compiled::default()
            },
        }
    }

    /// Returns whether a value is valid. A value that takes more work than the
    /// default [`Budget`] allows is not.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.check_fail_fast(value, &CheckBudget::new(MAX_STEPS))
    }

    /// Returns whether a value is valid. A value that takes more work than the
    /// budget allows is not.
    #[must_use]
    pub fn is_valid_with_budget(&self, value: &Value, budget: &Budget) -> bool {
        budget.spend_on(|budget| self.check_fail_fast(value, budget))
    }

    /// Returns the violations: the first 16, if there are more. Exceeding the
    /// default [`Budget`] is one too.
    #[must_use]
    pub fn errors(&self, value: &Value) -> Vec<ValidationError> {
        self.errors_with_budget(value, &Budget::default())
    }

    /// Returns the violations; see [`errors`](Self::errors). Exceeding the budget
    /// is one too.
    #[must_use]
    pub fn errors_with_budget(&self, value: &Value, budget: &Budget) -> Vec<ValidationError> {
        budget.spend_on(|budget| self.collect_errors(value, budget, Detail::All))
    }

    /// Describes the first violations as a list, or returns `None` if there are none.
    /// Returns the same as [`describe`] for the [`errors`](Self::errors), with less work.
    #[must_use]
    pub fn describe_errors(&self, value: &Value) -> Option<String> {
        self.describe_errors_with_budget(value, &Budget::default())
    }

    /// Describes the first violations; see [`describe_errors`](Self::describe_errors).
    /// Exceeding the budget is one too.
    #[must_use]
    pub fn describe_errors_with_budget(&self, value: &Value, budget: &Budget) -> Option<String> {
        let collect = |budget: &_| self.collect_errors(value, budget, Detail::Message);
        describe(&budget.spend_on(collect))
    }

    fn check_fail_fast(&self, value: &Value, budget: &CheckBudget) -> bool {
        // If the check ends early, keywords such as `not` would invert the
        // result.
        Check::new(&self.compiled, budget).is_valid(0, value) && !budget.is_exhausted()
    }

    fn collect_errors(
        &self,
        value: &Value,
        budget: &CheckBudget,
        detail: Detail,
    ) -> Vec<ValidationError> {
        let mut explanation = Explanation::new(&self.compiled, budget, detail);
        explanation.explain(0, value, &Location::Root);
        if budget.is_exhausted() {
            // The violations found so far may be artifacts of the early end.
            return vec![too_complex()];
        }
        explanation.errors
    }
}

fn too_complex() -> ValidationError {
    let message = format!(
        "this is too much to check against the schema (it exceeds the limit of {MAX_STEPS} steps, or \
         what the rest of its batch left); send less data at once"
    );
    let expected = "less data".to_owned();
    Detail::All.error(message, || (ValidationErrorKind::TooComplex, expected))
}
