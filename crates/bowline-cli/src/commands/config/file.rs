//! Changing one of Bowline's configuration files atomically.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bowline::config::ConfigDocument;

use super::file_choice::{ConfigLocation, display_path};
use crate::{
    atomic_file::{self, Access},
    failure::Failure,
};

/// A file that is to be changed.
pub(super) struct ConfigFile {
    path: PathBuf,
    is_project: bool,
    pub(super) document: ConfigDocument,
}

impl ConfigFile {
    /// Reads a file, which need not exist.
    pub(super) fn open(location: &ConfigLocation) -> Result<Self, Failure> {
        let path = location.path.as_path();
        check_location(location)?;
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::usage(format!("{}: {error}", display_path(path)))),
        };
        let document = ConfigDocument::parse(&text).map_err(|problem| {
            Failure::usage(format!("{}: {problem}", display_path(path)))
                .hint("nothing was changed; fix the file first")
        })?;
        Ok(Self {
            path: path.to_owned(),
            is_project: location.is_project(),
            document,
        })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.document.names().iter().any(|known| known == name)
    }

    /// Inserts a server, replacing one of the same name.
    pub(super) fn insert(&mut self, name: &str, entry: &str) -> Result<(), Failure> {
        let path = display_path(&self.path);
        self.document
            .insert(name, entry)
            .map_err(|problem| Failure::usage(format!("{path}: {problem}")))
    }

    /// Writes the file atomically: a reader sees the old text or the new one.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let path = match self.is_project {
            // Replaced, whatever it has become in the meantime.
            true => self.path.clone(),
            // If the file is a symlink, its target is changed: people keep
            // their configuration elsewhere.
            false => fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone()),
        };
        write(&path, self.document.as_str())
            .map_err(|error| Failure::usage(format!("{}: {error}", display_path(&self.path))))
    }
}

/// Refuses to change a project's file that others could have planted: a
/// symlink, which may point to any file of the user, or a file in a directory
/// that belongs to others.
fn check_location(location: &ConfigLocation) -> Result<(), Failure> {
    let Some(source) = location.source.as_ref().filter(|_| location.is_project()) else {
        return Ok(());
    };
    let path = display_path(&location.path);
    let hint = "nothing was changed; use --config FILE to change a file by its path";
    source
        .check_ownership()
        .map_err(|problem| Failure::usage(format!("{path}: {problem}")).hint(hint))?;
    match fs::symlink_metadata(&location.path) {
        Ok(metadata) if metadata.is_symlink() => {
            let why = format!("{path} is a symbolic link and may point outside of the project");
            Err(Failure::usage(why).hint(hint))
        }
        Ok(metadata) if !metadata.is_file() => {
            Err(Failure::usage(format!("{path} is not a regular file")))
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Configuration files hold keys.
    atomic_file::write(path, text.as_bytes(), Access::Owner)
}
