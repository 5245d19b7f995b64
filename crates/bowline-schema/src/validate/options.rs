//! Options that say what counts as valid, beyond what the draft says.

use serde_json::Value;

use super::{SchemaError, Validator, compile::Compiler};

/// How a [`Validator`] deviates from the draft: stricter for what people type, and
/// more lenient where servers are.
///
/// Created by [`Validator::options`]. Without an option, nothing changes.
///
/// ```
/// use bowline_schema::Validator;
/// use serde_json::json;
///
/// let schema = json!({
///     "properties": {
///         "dice": {"type": "integer"},
///         "sides": {"type": "integer", "default": 6},
///     },
///     "required": ["dice", "sides"],
/// });
/// let validator = Validator::options()
///     .reject_undeclared_members(true)
///     .accept_missing_defaults(true)
///     .compile(&schema)?;
/// assert!(validator.is_valid(&json!({"dice": 2})));
/// let errors = validator.errors(&json!({"dice": 2, "side": 8}));
/// assert_eq!(errors[0].suggestion.as_deref(), Some("sides"));
/// # Ok::<(), bowline_schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ValidatorOptions {
    pub(super) rejects_undeclared: bool,
    pub(super) accepts_missing_defaults: bool,
    pub(super) asserts_formats: bool,
}

impl ValidatorOptions {
    /// Whether a member is a violation if the schemas for its object declare others,
    /// and say nothing about further ones.
    ///
    /// By the draft, such a member is allowed. But most authors did not think of it,
    /// and a name that a person typed should be one that the schema knows.
    ///
    /// A name is known if any of the schemas for the object has it in `properties` or
    /// `required`: the schema itself, or one that it applies by `$ref`, `allOf`,
    /// `anyOf`, `oneOf`, `then`, `else` or `dependentSchemas`. Something is said about
    /// further members by `additionalProperties`, `patternProperties`,
    /// `unevaluatedProperties`, and by an alternative that the object matches and that
    /// declares no member.
    pub fn reject_undeclared_members(mut self, reject: bool) -> Self {
        self.rejects_undeclared = reject;
        self
    }

    /// Whether a required member may be absent if its schema has a `default`.
    ///
    /// Some programs publish the schema of values after the defaults are filled in.
    pub fn accept_missing_defaults(mut self, accept: bool) -> Self {
        self.accepts_missing_defaults = accept;
        self
    }

    /// Whether strings must have their `format`: `email`, `uri`, `date` or
    /// `date-time`. Other formats are not checked.
    pub fn assert_formats(mut self, assert: bool) -> Self {
        self.asserts_formats = assert;
        self
    }

    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid schema, has a reference that it
    /// does not contain, or uses a keyword that is not supported.
    pub fn compile(self, schema: &Value) -> Result<Validator, SchemaError> {
        let compiled = Compiler::new(schema, self).and_then(Compiler::compile);
        let compiled = compiled.map_err(SchemaError::new)?;
        Ok(Validator { compiled })
    }

    /// Whether schemas are not checked as the draft has it.
    pub(super) fn change_validity(self) -> bool {
        self.rejects_undeclared || self.accepts_missing_defaults
    }
}
