//! The variables of a URI that matches a template.

use std::{ops::Index, path::PathBuf};

use serde::{Deserialize, de::DeserializeOwned};

use super::string_map::{self, StringMap};
use crate::proto::model::DecodeError;

/// The variables of a URI, percent-decoded.
///
/// They are untrusted input from the client. Once decoded, even a variable that
/// ends at the next slash may contain one (`%2F`), and `..` is a valid value.
/// To use a variable as a path, call [`path`](Self::path) or check it in the
/// handler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Variables {
    values: StringMap,
}

impl Variables {
    /// Returns the value of a variable, or `None` if the template has no
    /// variable of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns all variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.values.iter();
        values.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns a variable as a relative path without `..`, root, drive or
    /// backslash, or `None` if it is not one.
    ///
    /// This only checks the string. A symbolic link in the file system may
    /// still lead elsewhere.
    ///
    /// ```
    /// use bowline::server::{Conversation, ResourceTemplate, Result};
    ///
    /// let files = ResourceTemplate::new("docs:///{+path}", "docs")
    ///     .read(async |variables, _cx: Conversation| {
    ///         let Some(path) = variables.path("path") else {
    ///             return Ok(None);
    ///         };
    ///         Ok(std::fs::read("/srv/docs".parse::<std::path::PathBuf>()?.join(path)).ok())
    ///     });
    /// # drop(files);
    /// ```
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let text = self.get(name)?;
        let is_safe_segment = |segment: &str| {
            !matches!(segment, "" | "." | "..") && !segment.contains(['\\', ':', '\0'])
        };
        text.split('/')
            .all(is_safe_segment)
            .then(|| text.split('/').collect())
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        string_map::deserialize(&self.values)
    }

    pub(super) fn insert(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }
}

/// Returns the value of a variable.
///
/// # Panics
///
/// Panics if the template has no variable of that name.
impl Index<&str> for Variables {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        match self.get(name) {
            Some(value) => value,
            None => panic!("the template has no variable {name:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_down() {
        let path = |text: &str| {
            let mut variables = Variables::default();
            variables.insert("path", text.to_owned());
            variables.path("path")
        };
        assert_eq!(path("a/b.txt"), Some(PathBuf::from("a/b.txt")));
        assert_eq!(path("..."), Some(PathBuf::from("...")));
        for bad in [
            "", "..", "a/../b", "/etc", "a//b", "./a", "a\\..\\b", "C:/x", "a/", "\0",
        ] {
            assert_eq!(path(bad), None, "{bad:?}");
        }
    }
}
