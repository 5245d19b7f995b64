//! Enums of which one value is chosen, or several.

use bowline_proto::model::{ChoiceSchema, DecodeError};
use serde_json::Value;

use super::field::mismatch;

/// One of several values, each of which is a string on the wire.
///
/// `#[derive(Elicit)]` implements it for an enum with unit variants, and
/// [`Field`](super::Field) too, so that it may stand in a form. So may a `Vec` of
/// a choice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    label = "a list in a form holds choices only: enums with `#[derive(Elicit)]`",
    note = "forms are flat: ask for one text with several values in it, ask more than once, or \
            make it an enum of unit variants with `#[derive(Elicit)]`"
)]
pub trait Choice: Sized + 'static {
    /// The values, bare or with names for people, in the order to show them.
    fn choices() -> ChoiceSchema;

    /// The string on the wire.
    fn as_wire(&self) -> &'static str;

    /// The value behind a string on the wire.
    fn from_wire(wire: &str) -> Option<Self>;
}

/// Reads a choice.
///
/// # Errors
///
/// Where the value is none of the choices.
pub fn read_choice<C: Choice>(value: &Value) -> Result<C, DecodeError> {
    let chosen = value.as_str().and_then(C::from_wire);
    chosen.ok_or_else(|| mismatch("one of the choices"))
}
