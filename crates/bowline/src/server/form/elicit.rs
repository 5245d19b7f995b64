//! The trait of types that can be asked for as a form.

use bowline_proto::model::{DecodeError, ElicitSchema};
use serde_json::Value;

use super::check_answer;

/// A flat form that can be shown to the user, and how its answer is read.
///
/// `#[derive(Elicit)]` implements it for a struct; see [the module](super).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    label = "this needs `#[derive(Elicit)]` on a struct with named fields",
    note = "an enum with `#[derive(Elicit)]` is a choice: to ask for one alone, make a struct with \
            one field of it"
)]
pub trait Elicit: Sized + Send + 'static {
    /// A key of this form that stays the same, whatever is asked before it.
    const KEY: Option<&'static str> = None;

    /// Returns the form, as the superset of all revisions. What a revision does
    /// not support is removed before sending.
    fn form() -> ElicitSchema;

    /// Checks an answer against the form.
    ///
    /// The default compiles the form each time; `#[derive(Elicit)]` does so once.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer is not valid, with the name of the field as
    /// the path.
    fn check_answer(answer: &Value) -> Result<(), DecodeError> {
        check_answer(&Self::form(), answer)
    }

    /// Reads an answer that was checked against the form.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer does not have the shape of the form.
    /// Bounds and formats are not checked again; [`read`] does both.
    fn from_answer(answer: &Value) -> Result<Self, DecodeError>;
}

/// Checks an answer against the form, then reads it.
///
/// # Errors
///
/// Returns an error if the answer is not valid, with the name of the field as
/// the path.
pub fn read<T: Elicit>(answer: &Value) -> Result<T, DecodeError> {
    T::check_answer(answer)?;
    T::from_answer(answer)
}
