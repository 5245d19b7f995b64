//! Changing one of Bowline's files, whole or not at all.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use bowline::config::Document;

use super::place::shown;
use crate::failure::Failure;

/// A file that is to be changed.
pub(super) struct ConfigFile {
    path: PathBuf,
    pub(super) document: Document,
}

impl ConfigFile {
    /// Reads a file, which need not be there.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::usage(format!("{}: {error}", shown(path)))),
        };
        let document = Document::parse(&text).map_err(|problem| {
            Failure::usage(format!("{}: {problem}", shown(path)))
                .hint("nothing was changed; correct the file first")
        })?;
        Ok(Self {
            path: path.to_owned(),
            document,
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.document.names().iter().any(|known| known == name)
    }

    /// Puts a server in, which replaces one of the same name.
    pub(super) fn insert(&mut self, name: &str, entry: &str) -> Result<(), Failure> {
        let path = shown(&self.path);
        self.document
            .insert(name, entry)
            .map_err(|problem| Failure::usage(format!("{path}: {problem}")))
    }

    /// Writes it, so that a reader sees the old text or the new one.
    pub(super) fn save(&self) -> Result<(), Failure> {
        write(&self.path, self.document.as_str())
            .map_err(|error| Failure::usage(format!("{}: {error}", shown(&self.path))))
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    // Where the file is a link, what it leads to is changed.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}", std::process::id()));
    let written = fill(&beside, &path, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What could not be put in its place is in nobody's way.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes the text beside the file, for those who may read the file.
fn fill(beside: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // Configurations hold keys: a new file is for its owner alone.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(beside)?;
    if let Ok(before) = fs::metadata(path) {
        file.set_permissions(before.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
