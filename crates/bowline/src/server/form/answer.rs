//! The answer to a form, read field by field.

use bowline_proto::model::DecodeError;
use serde_json::{Map, Value};

use super::{Field, field::mismatch};

/// The answer to a form.
///
/// ```
/// use bowline::server::form::FormAnswer;
/// use serde_json::json;
///
/// let answer = json!({"name": "Ada", "bags": 2});
/// let answer = FormAnswer::new(&answer).unwrap();
/// assert_eq!(answer.read::<String>("name").unwrap(), "Ada");
/// assert_eq!(answer.read::<Option<bool>>("meal").unwrap(), None);
/// assert_eq!(answer.read_or::<bool>("meal", || true).unwrap(), true);
/// assert_eq!(answer.read::<u8>("name").unwrap_err().path, "name");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FormAnswer<'a> {
    members: &'a Map<String, Value>,
}

impl<'a> FormAnswer<'a> {
    /// Wraps the JSON of an answer.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not an object.
    pub fn new(answer: &'a Value) -> Result<Self, DecodeError> {
        let members = answer.as_object().ok_or_else(|| mismatch("an object"))?;
        Ok(Self { members })
    }

    /// Reads a field.
    ///
    /// # Errors
    ///
    /// Returns an error if the field is required and missing, or of another
    /// type.
    pub fn read<T: Field>(&self, name: &str) -> Result<T, DecodeError> {
        T::read_from(self, name)
    }

    /// Reads a field that has a default. If omitted, it has that value, except
    /// that an `Option` is always `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if the field is of another type.
    pub fn read_or<T: Field>(
        &self,
        name: &str,
        default: impl FnOnce() -> T::Value,
    ) -> Result<T, DecodeError> {
        T::read_from_or(self, name, default)
    }

    /// Returns the value of a field, or `None` if it is missing or `null`.
    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }
}
