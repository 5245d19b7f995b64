//! The home folder and the workspace of a configuration.

use std::path::{Path, PathBuf};

use crate::proto::model::Root;

/// The user's home folder and the workspace, if known.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    pub(super) home: Option<PathBuf>,
    pub(super) workspace: Option<PathBuf>,
}

impl Paths {
    /// Replaces a leading `~` with the home folder. `None` if that is needed and not
    /// known.
    pub(super) fn expand_home(&self, text: &str) -> Option<String> {
        let Some(rest) = text.strip_prefix('~') else {
            return Some(text.to_owned());
        };
        // `~name` is another user's home, and a file name may begin with `~`, too.
        if !rest.is_empty() && !rest.starts_with(['/', '\\']) {
            return Some(text.to_owned());
        }
        let home = self.home.as_deref()?.to_string_lossy();
        Some(format!("{}{rest}", home.trim_end_matches(['/', '\\'])))
    }

    /// Resolves a relative path against the workspace.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        match &self.workspace {
            Some(workspace) => workspace.join(path),
            None => PathBuf::from(path),
        }
    }

    /// Returns the root for a `file` URI or a path.
    pub(super) fn root(&self, path_or_uri: &str) -> Result<Root, String> {
        if path_or_uri.starts_with("file://") {
            return Ok(Root::new(path_or_uri));
        }
        if path_or_uri.contains("://") {
            return Err("a root must be a path or a file URI".into());
        }
        let path_or_uri = self
            .expand_home(path_or_uri)
            .ok_or("the home folder is unknown")?;
        let path = self.absolute(&path_or_uri);
        let text = path.to_string_lossy();
        if path.has_root() || has_drive(&text) {
            Ok(Root::new(file_uri(&path)))
        } else {
            Err("a relative root needs a workspace".into())
        }
    }
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

/// Returns the `file` URI of an absolute path.
fn file_uri(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_windows = has_drive(&text);
    let mut uri = String::from(if is_windows { "file:///" } else { "file://" });
    for byte in text.bytes() {
        match byte {
            b'\\' if is_windows => uri.push('/'),
            b':' if is_windows => uri.push(':'),
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths {
            home: Some("/home/user/".into()),
            workspace: Some("/srv/notes".into()),
        }
    }

    #[test]
    fn a_tilde_alone_or_before_a_slash_is_the_home_folder() {
        let cases = [
            ("~", "/home/user"),
            ("~/bin", "/home/user/bin"),
            ("~other/bin", "~other/bin"),
            ("a/~/b", "a/~/b"),
        ];
        for (text, expected) in cases {
            assert_eq!(paths().expand_home(text).as_deref(), Some(expected));
        }
        assert_eq!(Paths::default().expand_home("~/bin"), None);
    }

    #[test]
    fn roots_become_uris() {
        let cases = [
            ("/srv/my notes", "file:///srv/my%20notes"),
            ("~/é", "file:///home/user/%C3%A9"),
            ("drafts", "file:///srv/notes/drafts"),
            ("file:///as/it/is", "file:///as/it/is"),
        ];
        for (path_or_uri, uri) in cases {
            assert_eq!(
                paths().root(path_or_uri).map(|root| root.uri),
                Ok(uri.into())
            );
        }
        assert!(paths().root("https://a.test").is_err());
        assert!(Paths::default().root("drafts").is_err());
        let windows = Paths::default().root(r"C:\my notes").map(|root| root.uri);
        assert_eq!(windows, Ok("file:///C:/my%20notes".into()));
    }
}
