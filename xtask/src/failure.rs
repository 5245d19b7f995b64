//! How commands report what went wrong.

use std::{io, path::Path};

/// A message for the person at the terminal.
pub type Failure = String;

/// An I/O error together with the path it is about.
pub fn at_path(path: &Path, error: &io::Error) -> Failure {
    format!("{}: {error}", path.display())
}
