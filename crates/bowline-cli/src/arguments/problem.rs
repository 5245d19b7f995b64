//! What is wrong with arguments, in words.

use serde_json::Value;

use crate::signature::shorten;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Problem {
    /// An argument that must be there is not.
    Missing {
        path: String,
        expected: String,
        about: Option<String>,
    },
    /// There is no such argument.
    Unknown { path: String, known: Vec<String> },
    /// The value is not of the type, or not in its bounds.
    Misfit {
        path: String,
        expected: String,
        found: String,
        /// The values that it could have been.
        choices: Vec<String>,
    },
    /// A value without a name, after the last name that there is.
    TooMany { most: usize },
    /// A value where there is another already.
    Repeated { path: String, expected: String },
    /// A value that an object after it has, too.
    Overruled { path: String },
    /// A value without a name, after one with a name.
    Unnamed { value: String },
}

impl Problem {
    /// A value that does not fit.
    pub(super) fn misfit(path: &str, expected: impl Into<String>, found: &Value) -> Self {
        Self::Misfit {
            path: path.to_owned(),
            expected: expected.into(),
            found: shorten(&found.to_string(), 60),
            choices: Vec::new(),
        }
    }

    /// A value that a later object would take away.
    pub(super) fn overruled(path: &str) -> Self {
        let path = path.to_owned();
        Self::Overruled { path }
    }

    /// The same, where other alternatives expect something else there.
    pub(super) fn widened<'a>(mut self, others: impl Iterator<Item = &'a Self>) -> Self {
        let Self::Misfit {
            path,
            expected,
            choices,
            ..
        } = &mut self
        else {
            return self;
        };
        for other in others {
            if let Self::Misfit {
                path: there,
                expected: also,
                choices: further,
                ..
            } = other
                && there == path
                && expected.split(" | ").all(|known| known != also)
            {
                *expected = format!("{expected} | {also}");
                choices.extend(further.iter().cloned());
            }
        }
        self
    }

    /// What is wrong, for the tool of this name.
    pub(super) fn describe(&self, tool: &str) -> String {
        match self {
            Self::Missing {
                path,
                expected,
                about,
            } => {
                let about = about
                    .as_ref()
                    .map(|about| format!(" ({})", shorten(about, 80)));
                let about = about.unwrap_or_default();
                format!("`{path}` is missing: {expected}{about}")
            }
            Self::Unknown { path, known } if known.is_empty() => {
                format!("{tool} takes no arguments, so no `{path}`")
            }
            Self::Unknown { path, .. } => format!("{tool} has no argument `{path}`"),
            Self::Misfit {
                path,
                expected,
                found,
                ..
            } => format!("`{path}`: {expected} is expected, not {found}"),
            Self::TooMany { most: 0 } => format!("{tool} takes no arguments"),
            Self::TooMany { most: 1 } => format!("{tool} takes 1 argument at most"),
            Self::TooMany { most } => format!("{tool} takes {most} arguments at most"),
            Self::Repeated { path, expected } => {
                format!("`{path}` is given more than once, and takes one value: {expected}")
            }
            Self::Overruled { path } => {
                format!("`{path}` is given before an object that has it, too")
            }
            Self::Unnamed { value } => {
                format!("{value} needs a name, since it comes after an argument with one")
            }
        }
    }

    /// Whether the server could see it otherwise.
    pub(super) fn is_debatable(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. } | Self::Unknown { .. } | Self::Misfit { .. }
        )
    }

    /// Whether one of these is missing.
    pub(super) fn is_missing(&self, names: &[String]) -> bool {
        matches!(self, Self::Missing { path, .. } if names.contains(path))
    }

    /// What was probably meant, by `find`.
    pub(super) fn meant<'a>(
        &'a self,
        find: impl Fn(&str, &[&'a str]) -> Option<&'a str>,
    ) -> Option<&'a str> {
        let (name, known) = match self {
            Self::Unknown { path, known } => (path.rsplit('.').next()?, known),
            Self::Misfit { found, choices, .. } => (found.trim_matches('"'), choices),
            _ => return None,
        };
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        find(name, &known)
    }
}
