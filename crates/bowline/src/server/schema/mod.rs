//! Whether a value fits a JSON Schema, and where it does not.
//!
//! Of the draft 2020-12 this has all that describes values in one document.
//! What only documents that refer to each other need (`$id` within, dynamic
//! references) and `unevaluatedItems` are refused when a schema is prepared, by
//! name, so that nothing is ever passed over. Formats are
//! annotations, as the draft has them.

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
mod refs;
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

/// A schema, ready to be used.
#[derive(Clone, Debug)]
pub(crate) struct Validator {
    /// All schemas within the schema, that itself first. They refer to each
    /// other by their places here.
    nodes: Vec<Vec<Keyword>>,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValidationError {
    /// Where it is, as a JSON Pointer.
    pub(crate) pointer: String,
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

    /// Whether a value fits. One that is too much to check, with what the frame
    /// that it came in is still allowed, does not.
    pub(crate) fn is_valid_with_budget(&self, value: &Value, shared_budget: &SharedBudget) -> bool {
        shared_budget.with_budget(|budget| self.check_fail_fast(value, budget))
    }

    /// The same for a value that comes alone.
    #[cfg(test)]
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.is_valid_with_budget(value, &SharedBudget::default())
    }

    fn check_fail_fast(&self, value: &Value, budget: &CheckBudget) -> bool {
        // Where it ends early, `not` and its like turn what that says around.
        Check::fail_fast(&self.nodes, budget).check_root(value) && !budget.is_exhausted()
    }

    /// What does not fit: the first faults, if there are many. That it is too
    /// much to check is one, too.
    pub(crate) fn errors_with_budget(
        &self,
        value: &Value,
        shared_budget: &SharedBudget,
    ) -> Vec<ValidationError> {
        shared_budget.with_budget(|budget| self.collect_errors(value, budget))
    }

    /// The same for a value that comes alone.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn errors(&self, value: &Value) -> Vec<ValidationError> {
        self.errors_with_budget(value, &SharedBudget::default())
    }

    fn collect_errors(&self, value: &Value, budget: &CheckBudget) -> Vec<ValidationError> {
        let mut check = Check::collect_all(&self.nodes, budget);
        check.check_root(value);
        if budget.is_exhausted() {
            // What was found until then may come from where it ended.
            return vec![too_complex()];
        }
        check.errors
    }
}

fn too_complex() -> ValidationError {
    ValidationError {
        pointer: String::new(),
        message: format!(
            "this is too much to check against the schema (over {MAX_STEPS} steps, or more than \
             the rest of its batch left); send less of it at once"
        ),
    }
}
