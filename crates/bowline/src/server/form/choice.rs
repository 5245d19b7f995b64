//! Enums from which one or several values are chosen.

use bowline_proto::model::{ChoiceSchema, DecodeError};
use serde_json::Value;

use super::field::mismatch;

/// One of several values, each of which is a string on the wire.
///
/// `#[derive(Elicit)]` implements it for an enum with unit variants, and
/// [`Field`](super::Field) too, so it can be a field of a form. So can a `Vec`
/// of a choice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "a list in a form may only contain choices: enums with `#[derive(Elicit)]`",
    note = "forms are flat: ask for one string that contains several values, ask more than once, or \
            make it an enum of unit variants with `#[derive(Elicit)]`"
)]
pub trait Choice: Sized + 'static {
    /// Returns the values, with or without display names, in the order to show
    /// them.
    fn choices() -> ChoiceSchema;

    /// Returns the string on the wire.
    fn as_wire(&self) -> &'static str;

    /// Returns the value for a string on the wire.
    fn from_wire(wire: &str) -> Option<Self>;
}

/// Reads a choice.
///
/// # Errors
///
/// Returns an error if the value is not one of the choices.
pub fn read_choice<C: Choice>(value: &Value) -> Result<C, DecodeError> {
    let chosen = value.as_str().and_then(C::from_wire);
    chosen.ok_or_else(|| mismatch("one of the choices"))
}
