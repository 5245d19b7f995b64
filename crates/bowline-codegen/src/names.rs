//! Identifiers for what servers offer, without collisions.

use std::collections::HashMap;

use bowline_schema::print::words::words;

use crate::error::GenerateError;

/// Names that files cannot have on Windows.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// The identifiers of one scope, with the names that they stand for.
#[derive(Debug)]
pub(crate) struct Scope {
    what: String,
    taken: HashMap<String, String>,
}

impl Scope {
    /// Returns an empty scope. `what` says what its identifiers name, in the plural.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            taken: HashMap::new(),
        }
    }

    /// Takes an identifier for a name.
    pub(crate) fn take(&mut self, name: &str, identifier: &str) -> Result<(), GenerateError> {
        match self.taken.insert(identifier.to_owned(), name.to_owned()) {
            None => Ok(()),
            Some(other) => Err(GenerateError::Collision {
                what: self.what.clone(),
                names: [other, name.to_owned()],
                identifier: identifier.to_owned(),
            }),
        }
    }
}

/// Adds a number to an identifier until it is free.
pub(crate) fn numbered(identifier: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{identifier}_{number}"));
    let mut candidates = std::iter::once(identifier.to_owned()).chain(numbered);
    let free = candidates.find(|candidate| is_free(candidate));
    free.unwrap_or_else(|| identifier.to_owned())
}

/// Returns the name of the file for a server, without its extension. `taken` are the
/// names of other files.
pub(crate) fn file_name(server: &str, taken: &[&str]) -> String {
    let file = words(server).join("-");
    match file.as_str() {
        "" => "server".to_owned(),
        name if taken.contains(&name) || DEVICES.contains(&name) => format!("{name}_"),
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn any_server_has_a_file() {
        let cases = [
            ("GitHub", "git-hub"),
            ("my server!", "my-server"),
            ("../../etc/passwd", "etc-passwd"),
            ("CON", "con_"),
            ("index", "index_"),
            ("/", "server"),
        ];
        for (server, expected) in cases {
            assert_eq!(file_name(server, &["index"]), expected);
        }
    }
}
