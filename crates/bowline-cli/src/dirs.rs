//! Where the command keeps things between runs.

use std::{env, path::PathBuf};

/// Where it keeps what it would rather not lose: calls that wait, keys, tokens.
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

/// A folder that the environment names. One that is not absolute would be
/// another one in every folder, and does not count.
fn env_dir(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os(name)?);
    folder.is_absolute().then_some(folder)
}
