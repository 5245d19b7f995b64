//! What is wrong with arguments, in words.

use serde_json::Value;

use crate::signature::shorten;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentProblem {
    /// An argument that must be there is not.
    Missing {
        path: String,
        expected: String,
        description: Option<String>,
    },
    /// There is no such argument.
    Unknown { path: String, known: Vec<String> },
    /// The value is not of the type, or not in its bounds.
    Invalid {
        path: String,
        expected: String,
        found: String,
        /// The values that it could have been.
        choices: Vec<String>,
    },
    /// A value without a name, after the last name that there is.
    TooMany { max: usize },
    /// A value where there is another already.
    Repeated { path: String, expected: String },
    /// A value that an object after it has, too.
    Overridden { path: String },
    /// A value without a name, after one with a name.
    Unnamed { value: String },
}

impl ArgumentProblem {
    /// A value that does not fit.
    pub(super) fn invalid(path: &str, expected: impl Into<String>, found: &Value) -> Self {
        Self::Invalid {
            path: path.to_owned(),
            expected: expected.into(),
            found: shorten(&found.to_string(), 60),
            choices: Vec::new(),
        }
    }

    /// A value that a later object would take away.
    pub(super) fn overridden(path: &str) -> Self {
        let path = path.to_owned();
        Self::Overridden { path }
    }

    /// The same, where other alternatives expect something else there.
    pub(super) fn with_alternatives<'a>(mut self, others: impl Iterator<Item = &'a Self>) -> Self {
        let Self::Invalid {
            path,
            expected,
            choices,
            ..
        } = &mut self
        else {
            return self;
        };
        for other in others {
            if let Self::Invalid {
                path: other_path,
                expected: other_expected,
                choices: other_choices,
                ..
            } = other
                && other_path == path
                && expected.split(" | ").all(|known| known != other_expected)
            {
                *expected = format!("{expected} | {other_expected}");
                choices.extend(other_choices.iter().cloned());
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
                description,
            } => {
                let description = description
                    .as_ref()
                    .map(|description| format!(" ({})", shorten(description, 80)));
                let description = description.unwrap_or_default();
                format!("`{path}` is missing: {expected}{description}")
            }
            Self::Unknown { path, known } if known.is_empty() => {
                format!("{tool} takes no arguments, so no `{path}`")
            }
            Self::Unknown { path, .. } => format!("{tool} has no argument `{path}`"),
            Self::Invalid {
                path,
                expected,
                found,
                ..
            } => format!("`{path}`: {expected} is expected, not {found}"),
            Self::TooMany { max: 0 } => format!("{tool} takes no arguments"),
            Self::TooMany { max: 1 } => format!("{tool} takes 1 argument at most"),
            Self::TooMany { max } => format!("{tool} takes {max} arguments at most"),
            Self::Repeated { path, expected } => {
                format!("`{path}` is given more than once, and takes one value: {expected}")
            }
            Self::Overridden { path } => {
                format!("`{path}` is given before an object that has it, too")
            }
            Self::Unnamed { value } => {
                format!("{value} needs a name, since it comes after an argument with one")
            }
        }
    }

    /// Whether the server could see it otherwise.
    pub(super) fn is_advisory(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. } | Self::Unknown { .. } | Self::Invalid { .. }
        )
    }

    /// Whether one of these is missing.
    pub(super) fn is_missing_any_of(&self, names: &[String]) -> bool {
        matches!(self, Self::Missing { path, .. } if names.contains(path))
    }

    /// What was probably meant, by `find`.
    pub(super) fn suggestion<'a>(
        &'a self,
        find: impl Fn(&str, &[&'a str]) -> Option<&'a str>,
    ) -> Option<&'a str> {
        let (name, known) = match self {
            Self::Unknown { path, known } => (path.rsplit('.').next()?, known),
            Self::Invalid { found, choices, .. } => (found.trim_matches('"'), choices),
            _ => return None,
        };
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        find(name, &known)
    }
}
