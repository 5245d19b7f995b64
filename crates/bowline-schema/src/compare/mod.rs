//! What kind of change a new version of a schema is.
//!
//! [`compare`] answers the question that authors have before they publish a new version
//! of a tool, and users when a server has changed: does what worked before still work?

mod canonical;
mod describe;
mod document;
mod findings;
mod keyword;
mod kinds;
mod number;
mod prover;
mod report;

use serde_json::Value;

pub use self::report::{ChangeKind, Comparison, Difference, Usage, Version};
use self::{describe::Walk, prover::Prover};

/// Compares two versions of a schema.
///
/// ```
/// use bowline_schema::compare::{ChangeKind, Usage, compare};
/// use serde_json::json;
///
/// let old = json!({
///     "type": "object",
///     "properties": {"seats": {"type": "integer", "maximum": 9}},
/// });
/// let new = json!({
///     "type": "object",
///     "properties": {
///         "seats": {"type": "integer", "maximum": 6},
///         "cabin": {"enum": ["economy", "first"]},
///     },
/// });
/// let comparison = compare(&old, &new, Usage::Input);
/// assert_eq!(comparison.kind(), ChangeKind::Breaking);
///
/// let [seats, cabin] = comparison.differences() else { panic!() };
/// assert_eq!(seats.kind, ChangeKind::Breaking);
/// assert_eq!(seats.pointer, "/properties/seats/maximum");
/// assert_eq!(seats.message, "the maximum of `seats` was lowered from 9 to 6");
/// assert_eq!(cabin.kind, ChangeKind::Compatible);
/// assert_eq!(cabin.message, "`cabin` was added and is optional");
///
/// // Whoever reads these values is not surprised by a lower maximum.
/// assert_eq!(compare(&old, &new, Usage::Output).kind(), ChangeKind::Compatible);
/// ```
///
/// # What is promised
///
/// Unless the result is [`Breaking`](ChangeKind::Breaking), every value that is valid
/// for the old schema is valid for the new one ([`Usage::Input`]), or every value that
/// is valid for the new schema is valid for the old one ([`Usage::Output`]). Valid means
/// what [`Validator`](crate::Validator) says. What cannot be shown to be compatible is
/// breaking, and the message says so.
///
/// There is one exception, since hardly anyone would call it breaking to add an optional
/// member. By the letter it is: a schema that says nothing about other members allows
/// them all, so a caller may have sent the new member with any value. Here it is assumed
/// that values have no members of which their schema says nothing. More precisely: where
/// the schema of the sender (the old one of an input, the new one of an output) describes
/// an object and says nothing about a member, and the other schema has that member in
/// `properties`, the member is assumed to be absent. This makes it compatible to add an
/// optional member to an input, and to remove one from an output. It is assumed only if
/// the sender's schema
///
/// - has `properties`, or is the whole document: other objects are maps;
/// - has none of `additionalProperties`, `unevaluatedProperties`, `patternProperties`,
///   `propertyNames`, `minProperties` and `maxProperties`: who states
///   `"additionalProperties": true` means it;
/// - does not mention the member anywhere else, such as in `required` or below `if`.
///
/// If there are alternatives, each counts for itself. Nothing is assumed within `not`,
/// `if`, `contains`, `propertyNames` and schemas that depend on members. To forbid other
/// members where they were allowed is breaking, and so is to allow them in an output.
///
/// # What else was decided
///
/// - A changed `title`, `description`, `$comment`, `examples` or `deprecated` is text.
///   So are the names of definitions and anchors, the order of alternatives and members,
///   and other spellings of the same schema.
/// - A changed `default` is compatible, not text: what is valid stays the same, but not
///   what happens to a value without the member. So are `readOnly`, `writeOnly`,
///   `$schema` and unknown keywords, which programs may act on.
/// - `format`, `contentEncoding`, `contentMediaType` and `contentSchema` restrict nothing
///   by the draft, but people rely on them. They count as restrictions: to add one to an
///   input or to remove one from an output is breaking, and so is to change one, unless it
///   is a format of numbers with a larger or smaller range, such as `int32` and `int64`.
/// - Patterns are compatible if they are equal. What follows from an `if` is compared if
///   the condition is the same. `unevaluatedItems` and `unevaluatedProperties` beside
///   schemas that apply to the same value are compatible if the whole schema is the same.
/// - References to other documents are compared by their URI. A relative URI in a document
///   with an `$id` depends on where that document is, so it is never known to be the same.
///
/// Neither schema needs to be valid. What is not understood is compatible if it is the
/// same. Nothing here panics or recurses without a limit, and the number of steps is
/// limited: what takes more, or is nested more than 100 schemas deep, is compatible if
/// it is the same.
#[must_use]
pub fn compare(old: &Value, new: &Value, usage: Usage) -> Comparison {
    let mut prover = Prover::new(old, new);
    if prover.is_identical() {
        return Comparison {
            kind: ChangeKind::Identical,
            differences: Vec::new(),
            omitted: 0,
        };
    }
    Walk::new(prover, usage).run()
}
