//! Paths, as people write them.

use std::path::{Path, PathBuf};

use super::clean;

/// A path as people write it: seen from the current folder, or from home.
pub(crate) fn short(path: &Path) -> String {
    let below = |folder: Option<PathBuf>| Some(path.strip_prefix(folder?).ok()?.to_owned());
    let short = match below(std::env::current_dir().ok()) {
        Some(rest) => Path::new(".").join(rest),
        None => match below(std::env::home_dir()) {
            Some(rest) => Path::new("~").join(rest),
            None => path.to_owned(),
        },
    };
    clean(&short.to_string_lossy()).into_owned()
}
