//! What is wrong with a schema, or with a value.

use std::{error::Error, fmt};

use super::error_kind::ValidationErrorKind;

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
///
/// ```
/// use bowline_schema::{ValidationErrorKind, Validator};
/// use serde_json::json;
///
/// let schema = json!({
///     "properties": {"dice": {"enum": ["d6", "d20"]}},
///     "additionalProperties": false,
/// });
/// let errors = Validator::new(&schema)?.errors(&json!({"dise": "d6"}));
/// let ValidationErrorKind::UnknownMember { name, .. } = &errors[0].kind else {
///     panic!("it is unknown");
/// };
/// assert_eq!(name, "dise");
/// assert_eq!(errors[0].expected, "`dice`");
/// assert_eq!(errors[0].suggestion.as_deref(), Some("dice"));
/// assert!(errors[0].message.ends_with("did you mean `dice`?"));
/// # Ok::<(), bowline_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationError {
    /// Where it is, as a JSON Pointer. For a missing or unknown member, this is the
    /// object.
    pub pointer: String,
    /// What is wrong there, in words for people and models.
    pub message: String,
    /// What is wrong there, for programs.
    pub kind: ValidationErrorKind,
    /// What would be right there, in a few words, such as `integer or null`. For a
    /// missing member, this is what its value should be.
    pub expected: String,
    /// The name or the value that was probably meant, if one is similar. It is in the
    /// message too.
    pub suggestion: Option<String>,
}

impl ValidationError {
    fn shown_pointer(&self) -> &str {
        match self.pointer.as_str() {
            "" => "/",
            pointer => pointer,
        }
    }

    /// Adds what was probably meant.
    pub(super) fn suggest(&mut self, suggestion: Option<&str>, detail: Detail) {
        if let Some(suggestion) = suggestion {
            for part in ["; did you mean `", suggestion, "`?"] {
                self.message.push_str(part);
            }
            self.suggestion = matches!(detail, Detail::All).then(|| suggestion.to_owned());
        }
    }
}

/// What to find out about a violation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail {
    /// The message, which is all that [`describe`] needs.
    Message,
    All,
}

impl Detail {
    /// Creates an error for the checked value itself, with its kind and what is
    /// expected if they are wanted.
    #[inline]
    pub(super) fn error(
        self,
        message: String,
        kind_and_expected: impl FnOnce() -> (ValidationErrorKind, String),
    ) -> ValidationError {
        let (kind, expected) = match self {
            Self::Message => (ValidationErrorKind::Other, String::new()),
            Self::All => kind_and_expected(),
        };
        ValidationError {
            pointer: String::new(),
            message,
            kind,
            expected,
            suggestion: None,
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.shown_pointer(), self.message)
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
    let listed = &errors[..errors.len().min(MAX_LISTED)];
    let size = |error: &ValidationError| error.pointer.len() + error.message.len() + 8;
    let mut list = String::with_capacity(listed.iter().map(size).sum());
    for error in listed {
        for part in ["\n- at ", error.shown_pointer(), ": ", &error.message] {
            list.push_str(part);
        }
    }
    if errors.len() > MAX_LISTED {
        list.push_str("\n- and more");
    }
    (!list.is_empty()).then_some(list)
}
