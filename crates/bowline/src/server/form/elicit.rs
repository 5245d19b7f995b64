//! What a form is to those who ask.

use bowline_proto::model::{DecodeError, ElicitSchema};
use serde_json::Value;

/// A flat form, and how its answer is read.
///
/// `#[derive(Elicit)]` implements it for a struct; see [the module](super).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    label = "this needs `#[derive(Elicit)]` on a struct with named fields",
    note = "an enum with `#[derive(Elicit)]` is a choice: to ask for one alone, make a struct with \
            one field of it"
)]
pub trait Elicit: Sized + Send + 'static {
    /// A name of this form that stays the same, whatever is asked before it.
    const KEY: Option<&'static str> = None;

    /// The form, as all revisions together can say it. What one revision
    /// cannot carry is taken off at the edge.
    fn form() -> ElicitSchema;

    /// Reads an answer that was checked against the form.
    ///
    /// # Errors
    ///
    /// Where the answer has not the shape of the form. Bounds and formats are
    /// not looked at again: [`read`] does both.
    fn from_answer(answer: &Value) -> Result<Self, DecodeError>;
}

/// Checks an answer against the form, then reads it.
///
/// # Errors
///
/// Where it is not a right answer, with the name of the field as path.
pub fn read<T: Elicit>(answer: &Value) -> Result<T, DecodeError> {
    T::form().check(answer)?;
    T::from_answer(answer)
}
