//! Store errors.

use std::{error::Error, fmt};

/// A store is unreachable, is full, or failed.
///
/// After an error the outcome is unknown: the write may or may not have
/// happened.
///
/// ```
/// use bowline::server::store::StoreError;
///
/// let cause = std::io::Error::other("connection reset");
/// let error = StoreError::new("the database did not answer").with_source(cause);
/// assert_eq!(error.to_string(), "the database did not answer");
/// ```
#[derive(Debug)]
pub struct StoreError {
    message: Box<str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// Creates an error with this message. The message is for operators and
    /// should contain neither keys nor values.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}
