//! The repository's own files, read once for all rules.

use std::{collections::BTreeMap, fs, path::Path};

use crate::Failure;

/// Folders of generated files. In `src`, a folder of this name is a module.
const GENERATED: &[&str] = &["target", "node_modules"];
/// Folders that fuzzing writes to.
const FUZZ_OUTPUT: &[&str] = &["fuzz/artifacts", "fuzz/corpus", "fuzz/coverage"];
/// Hidden files and folders of the repository. Any others belong to git or to an
/// editor.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".config", ".github", ".gitignore"];

/// The files of the repository, by their path from its root, with forward slashes.
pub struct Tree {
    texts: BTreeMap<String, String>,
    /// Binary files and folders, which links may point to.
    others: Vec<String>,
}

impl Tree {
    pub fn read(root: &Path) -> Result<Self, Failure> {
        let mut tree = Self {
            texts: BTreeMap::new(),
            others: Vec::new(),
        };
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree of the given files and the folders that hold them.
    #[cfg(test)]
    pub fn from_texts(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| (path.to_string(), text.to_string());
        let folders = files.iter().flat_map(|(path, _)| {
            path.match_indices('/')
                .map(|(end, _)| path[..end].to_owned())
        });
        Self {
            texts: files.iter().map(owned).collect(),
            others: folders.collect(),
        }
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub fn files_ending(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(move |(path, _)| path.ends_with(suffix))
    }

    pub fn paths(&self) -> Vec<&str> {
        self.texts.keys().map(String::as_str).collect()
    }

    pub fn exists(&self, path: &str) -> bool {
        path.is_empty()
            || self.texts.contains_key(path)
            || self.others.iter().any(|other| other == path)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), Failure> {
        let failure = |error| format!("cannot read {}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(failure)? {
            let entry = entry.map_err(failure)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if !is_checked(&name, &path) {
                continue;
            }
            if entry.file_type().map_err(failure)?.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
                self.others.push(path);
            } else {
                match fs::read_to_string(entry.path()) {
                    Ok(text) => drop(self.texts.insert(path, text)),
                    Err(_) => self.others.push(path),
                }
            }
        }
        Ok(())
    }
}

fn is_checked(name: &str, path: &str) -> bool {
    let is_generated = GENERATED.contains(&name) && !path.contains("/src/");
    !is_generated
        && !FUZZ_OUTPUT.iter().any(|folder| path.ends_with(folder))
        && (!name.starts_with('.') || HIDDEN.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_not_checked() {
        assert!(is_checked("lib.rs", "crates/a/src/lib.rs"));
        assert!(is_checked(".ci", ".ci"));
        assert!(!is_checked(".git", ".git"));
        assert!(!is_checked("target", "crates/a/fuzz/target"));
        assert!(is_checked("target", "crates/a/src/target"));
        assert!(!is_checked("corpus", "crates/a/fuzz/corpus"));
        assert!(is_checked("corpus", "crates/a/tests/corpus"));
    }
}
