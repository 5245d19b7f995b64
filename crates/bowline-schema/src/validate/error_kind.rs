//! What is wrong with a value, for programs.

use serde_json::{Number, Value};

use super::json_type::JsonType;

/// What is wrong with a value, for programs.
///
/// Lists have up to 100 entries, and long names are truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValidationErrorKind {
    /// An object lacks a member.
    MissingMember {
        /// The name of the member.
        name: String,
    },
    /// An object has a member that it may not have.
    UnknownMember {
        /// The name of the member.
        name: String,
        /// The names that the schema declares.
        known: Vec<String>,
    },
    /// The name of a member is not valid.
    InvalidMemberName {
        /// The name of the member.
        name: String,
    },
    /// The value has another type.
    WrongType {
        /// The types that it may have.
        allowed: Vec<JsonType>,
    },
    /// The value is not one of those that are listed.
    NotAChoice {
        /// The listed values.
        choices: Vec<Value>,
    },
    /// A number is too small.
    TooSmall {
        /// The bound.
        minimum: Number,
        /// Whether the bound itself is too small.
        is_exclusive: bool,
    },
    /// A number is too large.
    TooLarge {
        /// The bound.
        maximum: Number,
        /// Whether the bound itself is too large.
        is_exclusive: bool,
    },
    /// A number is not a multiple of another.
    NotAMultiple {
        /// The other number.
        divisor: Number,
    },
    /// A string has too few characters, an array too few items, or an object too few
    /// members.
    TooShort {
        /// How many it has.
        length: u64,
        /// How many it must have.
        minimum: u64,
    },
    /// A string has too many characters, an array too many items, or an object too
    /// many members.
    TooLong {
        /// How many it has.
        length: u64,
        /// How many it may have.
        maximum: u64,
    },
    /// An array has an item twice.
    RepeatedItem {
        /// The index of the second.
        index: usize,
    },
    /// A string does not match a regular expression.
    PatternMismatch {
        /// The regular expression.
        pattern: String,
    },
    /// A string does not have its format.
    FormatMismatch {
        /// The format, such as `email`.
        format: String,
    },
    /// The value matches none of several alternatives, and it is not clear which of
    /// them is meant. If it is clear, the violations of that alternative are reported
    /// instead.
    NoAlternative,
    /// The value matches several alternatives of which it may only match one.
    SeveralAlternatives,
    /// No value is allowed here, or not this one.
    Forbidden,
    /// The value takes more work to check than the [`Budget`](crate::Budget) allows.
    TooComplex,
    /// Something else.
    Other,
}
