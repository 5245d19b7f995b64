//! Shortening paths for display.

use std::path::{Path, PathBuf};

use super::escape_control;

/// Formats a path relative to the current directory or to the home directory.
pub(crate) fn short_path(path: &Path) -> String {
    let relative_to = |folder: Option<PathBuf>| Some(path.strip_prefix(folder?).ok()?.to_owned());
    let shortened = match relative_to(std::env::current_dir().ok()) {
        Some(rest) => Path::new(".").join(rest),
        None => match relative_to(std::env::home_dir()) {
            Some(rest) => Path::new("~").join(rest),
            None => path.to_owned(),
        },
    };
    escape_control(&shortened.to_string_lossy()).into_owned()
}
