//! Problems with arguments, and their messages.

use bowline_schema::{
    print::signature::{Detail, PrintBudget, Printer},
    shape::{Shape, Type},
};
use serde_json::Value;

use crate::output::shorten;

/// How much of a type is spelled out in a message.
const DETAIL: Detail = Detail::SHORT.with_max_choices(40);

/// Returns the type of a value that has one of these types.
pub(super) fn expected_type<'a>(
    shape: &'a Shape,
    types: impl IntoIterator<Item = &'a Type>,
) -> String {
    let budget = PrintBudget::default();
    Printer::new(shape, DETAIL, &budget).union_expression(types)
}

/// A problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentProblem {
    /// A required argument is missing.
    Missing {
        path: String,
        expected: String,
        description: Option<String>,
    },
    /// The tool has no such argument.
    Unknown { path: String, known: Vec<String> },
    /// The value has the wrong type or is out of bounds.
    Invalid {
        path: String,
        expected: String,
        found: String,
        /// The allowed values.
        choices: Vec<String>,
    },
    /// A positional value after the last argument.
    TooMany { max: usize },
    /// A second value where one is allowed.
    Repeated { path: String, expected: String },
    /// A value that a later object contains too.
    Overridden { path: String },
    /// A positional value after a named one.
    Unnamed { value: String },
}

impl ArgumentProblem {
    /// Returns the problem of an invalid value.
    pub(super) fn invalid(path: &str, expected: impl Into<String>, found: &Value) -> Self {
        Self::Invalid {
            path: path.to_owned(),
            expected: expected.into(),
            found: shorten(&found.to_string(), 60),
            choices: Vec::new(),
        }
    }

    /// Adds the allowed values to an invalid one.
    pub(super) fn with_choices(mut self, allowed: impl IntoIterator<Item = String>) -> Self {
        if let Self::Invalid { choices, .. } = &mut self {
            choices.extend(allowed);
        }
        self
    }

    /// Returns the problem of a value that a later object would override.
    pub(super) fn overridden(path: &str) -> Self {
        let path = path.to_owned();
        Self::Overridden { path }
    }

    /// Adds what other alternatives expect there.
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

    /// Returns the message, for the tool of this name.
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
                format!("{tool} has no argument `{path}`: it takes no arguments")
            }
            Self::Unknown { path, .. } => format!("{tool} has no argument `{path}`"),
            Self::Invalid {
                path,
                expected,
                found,
                ..
            } => match path.as_str() {
                "" => format!("the arguments: expected {expected}, found {found}"),
                path => format!("`{path}`: expected {expected}, found {found}"),
            },
            Self::TooMany { max: 0 } => format!("{tool} takes no arguments"),
            Self::TooMany { max: 1 } => format!("{tool} takes at most 1 argument"),
            Self::TooMany { max } => format!("{tool} takes at most {max} arguments"),
            Self::Repeated { path, expected } => {
                format!("`{path}` is given more than once but takes one value: {expected}")
            }
            Self::Overridden { path } => {
                format!("`{path}` is given before an object that also contains it")
            }
            Self::Unnamed { value } => {
                format!("{value} needs a name, because it follows a named argument")
            }
        }
    }

    /// Returns whether the server might accept it anyway.
    pub(super) fn is_advisory(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. } | Self::Unknown { .. } | Self::Invalid { .. }
        )
    }

    /// Returns whether it reports as missing what another problem has under a
    /// wrong name, if this name was meant.
    pub(super) fn is_explained_by(&self, other: &Self, meant: &str) -> bool {
        let (Self::Missing { path, .. }, Self::Unknown { path: given, .. }) = (self, other) else {
            return false;
        };
        match given.rsplit_once('.') {
            Some((outer, _)) => path.strip_prefix(outer) == Some(&format!(".{meant}")),
            None => path == meant,
        }
    }

    /// Returns what was probably meant, as found by `find`.
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
