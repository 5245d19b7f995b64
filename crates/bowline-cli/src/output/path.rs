//! Paths, as people write them.

use std::path::{Path, PathBuf};

use super::escape_control;

/// A path as people write it: seen from the current folder, or from home.
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
