//! Directories in which the command keeps files between runs.

use std::{env, path::PathBuf};

/// Returns the directory for persistent state: suspended calls, keys, tokens.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let base = if cfg!(windows) {
        env_dir("LOCALAPPDATA")?
    } else {
        match env_dir("XDG_STATE_HOME") {
            Some(folder) => folder,
            None => env::home_dir()?.join(".local").join("state"),
        }
    };
    Some(base.join("bowline"))
}

/// Returns a directory named by the environment. Relative paths are ignored:
/// they would depend on the current directory.
fn env_dir(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os(name)?);
    folder.is_absolute().then_some(folder)
}
