//! Why a store did not do what it was asked.

use std::{error::Error, fmt};

/// A store could not be reached, is full, or failed.
///
/// After an error nothing is known: what was to be written may be there or
/// not.
///
/// ```
/// use bowline::server::store::StoreError;
///
/// let cause = std::io::Error::other("connection reset");
/// let error = StoreError::new("the database did not answer").caused_by(cause);
/// assert_eq!(error.to_string(), "the database did not answer");
/// ```
#[derive(Debug)]
pub struct StoreError {
    message: Box<str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// An error that says this. The message is for operators; it should name
    /// neither keys nor values.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Adds the error behind it.
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
