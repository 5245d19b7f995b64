//! Forms that users fill in.
//!
//! A form is a struct. Each of its fields is a string, a number, a boolean, a
//! choice (an enum), or a list of choices; an `Option` may be omitted. Forms
//! are flat, as in the protocol: a nested struct does not compile.
//!
#![cfg_attr(feature = "macros", doc = "```")]
#![cfg_attr(not(feature = "macros"), doc = "```ignore")]
//! use bowline::server::form::{self, Elicit};
//! use serde_json::json;
//!
//! #[derive(Elicit)]
//! struct Booking {
//!     /// Who travels?
//!     #[elicit(title = "Name", min_length = 1)]
//!     name: String,
//!     #[elicit(min = 1, max = 9)]
//!     bags: u8,
//!     seat: Option<Seat>,
//! }
//!
//! #[derive(Elicit)]
//! #[elicit(rename_all = "lowercase")]
//! enum Seat {
//!     Window,
//!     Aisle,
//! }
//!
//! let booking: Booking = form::read(&json!({"name": "Ada", "bags": 1, "seat": "aisle"})).unwrap();
//! assert!(matches!(booking.seat, Some(Seat::Aisle)));
//! let fault = form::read::<Booking>(&json!({"name": "Ada", "bags": 10})).err().unwrap();
//! assert_eq!(fault.to_string(), "bags: 10 is greater than 9");
//! ```
//!
//! [`FormBuilder`] builds forms that are only known at run time. The derive
//! macro generates calls to it.

mod answer;
mod builder;
mod choice;
mod elicit;
mod field;
mod field_builder;
mod number;

pub use answer::FormAnswer;
pub use builder::{FormBuilder, FormError};
pub use choice::{Choice, read_choice};
pub use elicit::{Elicit, read};
pub use field::{ChoicesField, Field, NumberField, StringField, string_default};
pub use field_builder::{AnyOf, FieldBuilder, OneOf};

pub use crate::form_check::{AnswerCheck, check_answer};

/// Makes a form of a struct with named fields, and a choice of an enum with
/// unit variants.
///
/// On a struct this implements [`trait@Elicit`]. A `///` comment on a field is
/// its description. A field that is an `Option` may be omitted. In
/// `#[elicit(…)]` a field may have:
///
/// | attribute | for | meaning |
/// |---|---|---|
/// | `title = "…"` | all | the display name |
/// | `rename = "…"` | all | the name on the wire |
/// | `default = …` | all | the initial value; a field that is not an `Option` has this value if it is omitted |
/// | `min = …`, `max = …` | numbers | inclusive bounds |
/// | `min_length = …`, `max_length = …` | strings | bounds in characters |
/// | `format = "…"` | strings | `email`, `uri`, `date` or `date-time` |
/// | `min_items = …`, `max_items = …` | lists of choices | how many may be chosen |
///
/// On an enum this implements [`Choice`] and [`Field`]. The names of the
/// variants are the values. `title = "…"` or a `///` comment on a variant is
/// its display name, `rename = "…"` its value.
///
/// The type itself may have `rename_all = "…"` (`lowercase`, `UPPERCASE`,
/// `camelCase`, `PascalCase`, `snake_case`, `SCREAMING_SNAKE_CASE` or
/// `kebab-case`), `crate = "…"` with the path of this crate if it is not
/// `::bowline`, and a struct `key = "…"` ([`Elicit::KEY`](trait@Elicit)).
#[cfg(feature = "macros")]
pub use bowline_macros::Elicit;
#[doc(no_inline)]
pub use bowline_proto::model::{
    ChoiceOption, ChoiceSchema, DecodeError, ElicitSchema, PropertySchema, StringFormat,
};
#[doc(no_inline)]
pub use serde_json::Value;
