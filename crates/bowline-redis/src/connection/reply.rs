//! Replies of scripts: a word that says what happened, and values.

use bowline::server::store::StoreError;
use bytes::Bytes;
use redis::Value;

use super::full;

/// The reply of a script.
#[derive(Debug)]
pub(crate) struct Reply {
    status: Vec<u8>,
    values: std::vec::IntoIter<Value>,
}

impl Reply {
    pub(super) fn new(value: Value) -> Result<Self, StoreError> {
        let mut values = array(value)?.into_iter();
        match values.next() {
            Some(Value::BulkString(status)) => Ok(Self { status, values }),
            _ => Err(unexpected()),
        }
    }

    pub(crate) fn is(&self, status: &str) -> bool {
        self.status == status.as_bytes()
    }

    /// Checks that the script succeeded, and returns its values.
    pub(crate) fn ok(mut self) -> Result<Self, StoreError> {
        if self.is("OK") {
            return Ok(self);
        }
        if self.is("FULL") {
            let whose = self.text()?;
            return Err(full(&whose));
        }
        Err(unexpected())
    }

    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        number(self.next()?)
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        text(self.next()?)
    }

    pub(crate) fn bytes(&mut self) -> Result<Bytes, StoreError> {
        optional_bytes(self.next()?)?.ok_or_else(unexpected)
    }

    pub(crate) fn optional_bytes(&mut self) -> Result<Option<Bytes>, StoreError> {
        optional_bytes(self.next()?)
    }

    /// Returns a list of values.
    pub(crate) fn list(&mut self) -> Result<Vec<Value>, StoreError> {
        array(self.next()?)
    }

    fn next(&mut self) -> Result<Value, StoreError> {
        self.values.next().ok_or_else(unexpected)
    }
}

/// Values in a list have the same form.
impl TryFrom<Value> for Reply {
    type Error = StoreError;

    fn try_from(value: Value) -> Result<Self, StoreError> {
        Ok(Self {
            status: Vec::new(),
            values: array(value)?.into_iter(),
        })
    }
}

pub(crate) fn optional_bytes(value: Value) -> Result<Option<Bytes>, StoreError> {
    match value {
        Value::BulkString(bytes) => Ok(Some(bytes.into())),
        Value::Nil => Ok(None),
        _ => Err(unexpected()),
    }
}

pub(super) fn unexpected() -> StoreError {
    StoreError::new(
        "Redis returned something that bowline-redis does not understand: something else may \
         use keys with the same prefix",
    )
}

fn array(value: Value) -> Result<Vec<Value>, StoreError> {
    match value {
        Value::Array(values) => Ok(values),
        _ => Err(unexpected()),
    }
}

fn number(value: Value) -> Result<u64, StoreError> {
    let number = match value {
        Value::Int(number) => u64::try_from(number).ok(),
        Value::BulkString(bytes) => String::from_utf8(bytes)
            .ok()
            .and_then(|text| text.parse().ok()),
        _ => None,
    };
    number.ok_or_else(unexpected)
}

fn text(value: Value) -> Result<String, StoreError> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).map_err(|_| unexpected()),
        _ => Err(unexpected()),
    }
}
