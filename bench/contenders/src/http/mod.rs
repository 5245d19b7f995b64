//! Servers and clients over HTTP.

use crate::Failure;

/// Runs what the arguments name.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    Err(format!("nothing is called {arguments:?}"))
}
