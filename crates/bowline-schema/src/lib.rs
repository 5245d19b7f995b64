//! JSON Schema 2020-12, without I/O, for schemas and values from strangers.
//!
//! - [`Validator`] is a compiled schema. It checks values, and reports what is wrong
//!   with them in words for people and models, and in types for programs.
//!   [`ValidatorOptions`] make it stricter or more lenient than the draft.
//! - [`TextCheck`] checks JSON text without building values, for simple schemas.
//! - [`Shape`](shape::Shape) is the typed form of a schema, for printers, forms and
//!   generators.
//! - [`compare`](compare::compare) says what kind of change a new version is.
//! - [`Observer`](observe::Observer) learns a schema from values.
//! - [`mod@print`] writes shapes as text.
//! - [`closest_name()`] finds the name that was probably meant.
//!
//! ```
//! use bowline_schema::Validator;
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"city": {"type": "string"}},
//!     "additionalProperties": false,
//! });
//! let validator = Validator::new(&schema)?;
//! assert!(validator.is_valid(&json!({"city": "Porto"})));
//!
//! let errors = validator.errors(&json!({"city": 7}));
//! assert_eq!(errors[0].to_string(), r#"at /city: 7 is not of type "string""#);
//! # Ok::<(), bowline_schema::SchemaError>(())
//! ```
//!
//! Nothing here panics, recurses without a limit or takes more than a fixed number of
//! steps, whatever the schema and the value.

mod closest_name;
pub mod compare;
mod keyword_value;
pub mod observe;
mod pointer;
pub mod print;
pub mod shape;
mod text;
mod validate;

pub use closest_name::closest_name;
pub use text::TextCheck;
pub use validate::{
    Budget, JsonType, SchemaError, ValidationError, ValidationErrorKind, Validator,
    ValidatorOptions, describe,
};
