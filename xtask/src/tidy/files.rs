//! The repository's own files, read once for all rules.

use std::{collections::BTreeMap, fs, path::Path};

use crate::Failure;

/// Folders that tools make. A module of sources may have such a name.
const MADE_BY_TOOLS: &[&str] = &["target", "node_modules"];
/// What fuzzing leaves behind.
const MADE_BY_FUZZING: &[&str] = &["fuzz/artifacts", "fuzz/corpus", "fuzz/coverage"];
/// The hidden folders that are ours. Any other belongs to an editor or to git.
const OUR_HIDDEN: &[&str] = &[".cargo", ".ci", ".config", ".github", ".gitignore"];

/// Every text file by its path from the top, with forward slashes.
pub struct Tree {
    texts: BTreeMap<String, String>,
    /// Files that are not text, and folders: links may point there.
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

    pub fn ending(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
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
        let fault = |error| format!("cannot read {}: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if !is_ours(&name, &path) {
                continue;
            }
            if entry.file_type().map_err(fault)?.is_dir() {
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

fn is_ours(name: &str, path: &str) -> bool {
    let made = MADE_BY_TOOLS.contains(&name) && !path.contains("/src/");
    !made
        && !MADE_BY_FUZZING.iter().any(|made| path.ends_with(made))
        && (!name.starts_with('.') || OUR_HIDDEN.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_make_is_not_ours() {
        assert!(is_ours("lib.rs", "crates/a/src/lib.rs"));
        assert!(is_ours(".ci", ".ci"));
        assert!(!is_ours(".git", ".git"));
        assert!(!is_ours("target", "crates/a/fuzz/target"));
        assert!(is_ours("target", "crates/a/src/target"));
        assert!(!is_ours("corpus", "crates/a/fuzz/corpus"));
        assert!(is_ours("corpus", "crates/a/tests/corpus"));
    }
}
