//! Why stores cannot be connected.

use std::{error::Error, fmt};

use bowline::server::store::StoreError;

/// The error returned if the stores cannot be connected.
#[derive(Debug)]
pub struct ConnectError {
    message: String,
    source: Option<StoreError>,
}

impl ConnectError {
    pub(crate) fn setting(what: &str, why: &str) -> Self {
        Self {
            message: format!("the {what} of the Redis stores is wrong: {why}"),
            source: None,
        }
    }

    pub(crate) fn unsuitable(why: &str) -> Self {
        Self {
            message: format!("the Redis server cannot be used: {why}"),
            source: None,
        }
    }
}

impl From<StoreError> for ConnectError {
    fn from(error: StoreError) -> Self {
        Self {
            message: error.to_string(),
            source: Some(error),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref()?.source()
    }
}
