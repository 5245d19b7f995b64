//! Servers and clients over standard streams.

use crate::Failure;

/// Runs what the arguments name.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    Err(format!("nothing is called {arguments:?}"))
}
