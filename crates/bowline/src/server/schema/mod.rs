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
mod effort;
mod equal;
mod evaluated;
mod key;
mod keyword;
mod pattern;
mod refs;
mod shown;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use self::budget::Allowance;
use self::{
    budget::{Budget, MAX_STEPS},
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

    /// Whether a value fits. One that is too much to check, with what the frame
    /// that it came in is still allowed, does not.
    pub(crate) fn fits(&self, value: &Value, allowance: &Allowance) -> bool {
        allowance.look(|budget| self.is_valid_within(value, budget))
    }

    /// The same for a value that comes alone.
    #[cfg(test)]
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.fits(value, &Allowance::default())
    }

    fn is_valid_within(&self, value: &Value, budget: &Budget) -> bool {
        // Where it ends early, `not` and its like turn what that says around.
        Check::quick(&self.nodes, budget).root(value) && !budget.is_spent()
    }

    /// What does not fit: the first faults, if there are many. That it is too
    /// much to check is one, too.
    pub(crate) fn faults_allowing(&self, value: &Value, allowance: &Allowance) -> Vec<Fault> {
        allowance.look(|budget| self.faults_within(value, budget))
    }

    /// The same for a value that comes alone.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn faults(&self, value: &Value) -> Vec<Fault> {
        self.faults_allowing(value, &Allowance::default())
    }

    fn faults_within(&self, value: &Value, budget: &Budget) -> Vec<Fault> {
        let mut check = Check::thorough(&self.nodes, budget);
        check.root(value);
        if budget.is_spent() {
            // What was found until then may come from where it ended.
            return vec![too_much()];
        }
        check.faults
    }
}

fn too_much() -> Fault {
    Fault {
        place: String::new(),
        message: format!(
            "this is too much to check against the schema (over {MAX_STEPS} steps, or more than \
             the rest of its batch left); send less of it at once"
        ),
    }
}
