//! What a call costs as things grow in number.

use crate::Failure;

/// Runs what the arguments name.
pub(crate) fn main(arguments: &[&str]) -> Result<(), Failure> {
    Err(format!("nothing is called {arguments:?}"))
}
