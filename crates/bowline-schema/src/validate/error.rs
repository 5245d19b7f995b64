//! What is wrong with a schema, or with a value.

use std::{
    error::Error,
    fmt::{self, Write as _},
};

/// The maximum number of errors that [`describe`] lists.
const MAX_LISTED: usize = 5;

/// Why a schema cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(String);

impl SchemaError {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SchemaError {}

/// A violation of a schema by a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationError {
    /// Where it is, as a JSON Pointer.
    pub pointer: String,
    /// What is wrong there, in words for people and models.
    pub message: String,
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = match self.pointer.as_str() {
            "" => "/",
            pointer => pointer,
        };
        write!(f, "at {pointer}: {}", self.message)
    }
}

impl Error for ValidationError {}

/// Describes the first violations as a list, or returns `None` if there are none.
///
/// ```
/// use bowline_schema::{Validator, describe};
/// use serde_json::json;
///
/// let validator = Validator::new(&json!({"type": "string", "minLength": 1}))?;
/// let errors = validator.errors(&json!(""));
/// assert_eq!(describe(&errors).as_deref(), Some("\n- at /: \"\" is shorter than 1 character"));
/// assert_eq!(describe(&validator.errors(&json!("a"))), None);
/// # Ok::<(), bowline_schema::SchemaError>(())
/// ```
#[must_use]
pub fn describe(errors: &[ValidationError]) -> Option<String> {
    let mut list = String::new();
    for error in errors.iter().take(MAX_LISTED) {
        // Writing to a string cannot fail.
        let _ = write!(list, "\n- {error}");
    }
    if errors.len() > MAX_LISTED {
        list.push_str("\n- and more");
    }
    (!list.is_empty()).then_some(list)
}
