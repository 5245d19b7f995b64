//! A filled-in form, read field by field.

use bowline_proto::model::DecodeError;
use serde_json::{Map, Value};

use super::{Field, field::mismatch};

/// The answer to a form.
///
/// ```
/// use bowline::server::form::Answer;
/// use serde_json::json;
///
/// let answer = json!({"name": "Ada", "bags": 2});
/// let answer = Answer::of(&answer).unwrap();
/// assert_eq!(answer.read::<String>("name").unwrap(), "Ada");
/// assert_eq!(answer.read::<Option<bool>>("meal").unwrap(), None);
/// assert_eq!(answer.read_or::<bool>("meal", || true).unwrap(), true);
/// assert_eq!(answer.read::<u8>("name").unwrap_err().path, "name");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    members: &'a Map<String, Value>,
}

impl<'a> Answer<'a> {
    /// Looks at an answer as one.
    ///
    /// # Errors
    ///
    /// Where it is not an object.
    pub fn of(answer: &'a Value) -> Result<Self, DecodeError> {
        let members = answer.as_object().ok_or_else(|| mismatch("an object"))?;
        Ok(Self { members })
    }

    /// Reads one field.
    ///
    /// # Errors
    ///
    /// Where it is missing and required, or of another type.
    pub fn read<T: Field>(&self, name: &str) -> Result<T, DecodeError> {
        match self.value(name) {
            Some(value) => T::read(value).map_err(|fault| below(name, fault)),
            None => T::when_absent().ok_or_else(|| DecodeError::new(name, "an answer is required")),
        }
    }

    /// Reads one field that has a default. The default counts where a missing
    /// answer would mean nothing by itself: an `Option` that is left out is
    /// `None`, and a list is empty, whatever they began with.
    ///
    /// # Errors
    ///
    /// Where it is of another type.
    pub fn read_or<T: Field>(
        &self,
        name: &str,
        default: impl FnOnce() -> T::Value,
    ) -> Result<T, DecodeError> {
        match self.value(name) {
            Some(value) => T::read(value).map_err(|fault| below(name, fault)),
            None => Ok(T::when_absent().unwrap_or_else(|| T::from_value(default()))),
        }
    }

    /// What stands there; a `null` is nothing.
    fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }
}

fn below(name: &str, fault: DecodeError) -> DecodeError {
    let dot = if fault.path.is_empty() || fault.path.starts_with('[') {
        ""
    } else {
        "."
    };
    let path = format!("{name}{dot}{}", fault.path);
    DecodeError { path, ..fault }
}
