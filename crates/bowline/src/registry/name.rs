//! Names of servers, and qualified names of tools.

use std::fmt;

use bowline_schema::closest_name;

/// The separator between the names of a server and its tool.
pub(super) const SEPARATOR: &str = "__";

/// Why a name cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// The name is already taken by another server.
    Taken(Box<str>),
    /// The server is unknown.
    Unknown {
        /// The name.
        name: Box<str>,
        /// The most similar known name, if any is similar.
        similar: Option<Box<str>>,
        /// The known names.
        known: Vec<Box<str>>,
    },
    /// Not a valid server name. Names consist of ASCII letters and digits, `-`, `.` and
    /// `_`, but contain no `__` and do not end with `_`, so the first `__` in a
    /// qualified name ends the server's name.
    Invalid(Box<str>),
    /// Not a qualified tool name (`server__tool`).
    Unqualified(Box<str>),
}

impl NameError {
    /// Creates the error for a `name` that is not among `known`.
    pub(super) fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n Box<str>>) -> Self {
        let known: Vec<Box<str>> = known.cloned().collect();
        Self::Unknown {
            name: name.into(),
            similar: closest_name(name, known.iter().map(|known| &**known)).map(Into::into),
            known,
        }
    }
}

/// Returns the qualified name of a server's tool.
///
/// ```
/// use bowline::registry::qualified_name;
///
/// assert_eq!(qualified_name("git", "log"), "git__log");
/// ```
#[must_use]
pub fn qualified_name(server: &str, tool: &str) -> String {
    format!("{server}{SEPARATOR}{tool}")
}

/// Splits a [qualified](qualified_name) name into server and tool.
pub(super) fn split_qualified(name: &str) -> Result<(&str, &str), NameError> {
    match name.split_once(SEPARATOR) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok((server, tool)),
        _ => Err(NameError::Unqualified(name.into())),
    }
}

/// Checks that a server may have this name.
pub(super) fn check_server_name(name: &str) -> Result<(), NameError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_valid = !name.is_empty() && name.chars().all(is_allowed);
    if is_valid && !name.contains(SEPARATOR) && !name.ends_with('_') {
        Ok(())
    } else {
        Err(NameError::Invalid(name.into()))
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "server `{name}` already exists"),
            Self::Unknown {
                name,
                similar: Some(similar),
                ..
            } => write!(f, "no server `{name}`; did you mean `{similar}`?"),
            Self::Unknown { name, known, .. } if known.is_empty() => {
                write!(f, "no server `{name}`; no servers are registered")
            }
            Self::Unknown { name, known, .. } => {
                write!(f, "no server `{name}`; known servers: {}", known.join(", "))
            }
            Self::Invalid(name) => write!(
                f,
                "`{name}` is not a valid server name: use letters, digits, `-`, `.` and single `_`"
            ),
            Self::Unqualified(name) => {
                write!(
                    f,
                    "`{name}` is not a qualified tool name such as `server__tool`"
                )
            }
        }
    }
}

impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_separator_is_the_one() {
        assert_eq!(split_qualified("git__log"), Ok(("git", "log")));
        assert_eq!(split_qualified("git___log"), Ok(("git", "_log")));
        assert_eq!(split_qualified("git__a__b"), Ok(("git", "a__b")));
        for bad in ["log", "", "__log", "git__"] {
            assert_eq!(
                split_qualified(bad),
                Err(NameError::Unqualified(bad.into()))
            );
        }
    }

    #[test]
    fn names_that_would_be_ambiguous_are_refused() {
        for good in ["git", "my-server.2", "a_b", "_a"] {
            assert_eq!(check_server_name(good), Ok(()), "{good}");
        }
        for bad in ["", "a__b", "a_", "two words", "naïve", "a/b"] {
            assert_eq!(
                check_server_name(bad),
                Err(NameError::Invalid(bad.into())),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_mistyped_name_is_recognised() {
        let known: Vec<Box<str>> = ["github", "time", "weather"].map(Into::into).to_vec();
        let similar = |name| NameError::unknown(name, known.iter()).to_string();
        assert_eq!(
            similar("wether"),
            "no server `wether`; did you mean `weather`?"
        );
        assert_eq!(similar("tme"), "no server `tme`; did you mean `time`?");
        assert_eq!(
            similar("postgres"),
            "no server `postgres`; known servers: github, time, weather"
        );
    }
}
