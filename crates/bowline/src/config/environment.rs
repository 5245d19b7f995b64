//! The environment variables that a configuration may refer to.

use std::{collections::BTreeMap, fmt};

/// A copy of an environment, in which `${NAME}` and the `MCP_…` variables are looked
/// up.
///
/// It is a value and not the process's environment itself, so a host can add variables
/// from elsewhere, and tests need no process.
///
/// ```
/// use bowline::config::Environment;
///
/// let environment: Environment = [("GITHUB_TOKEN", "s3cret")].into_iter().collect();
/// assert_eq!(environment.get("GITHUB_TOKEN"), Some("s3cret"));
/// assert_eq!(format!("{environment:?}"), r#"{"GITHUB_TOKEN"}"#, "values are never shown");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Creates an empty environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the variables of this process. Those that are not Unicode are left out:
    /// nothing in a JSON file could have been replaced by them.
    #[must_use]
    pub fn from_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// Returns the value of a variable, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Returns whether there are variables whose names begin with `prefix`.
    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        self.with_prefix(prefix).next().is_some()
    }

    /// Returns the variables whose names begin with `prefix`, with the prefix removed.
    pub(super) fn with_prefix<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.variables
            .range(prefix.to_owned()..)
            .map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let mut environment = Self::new();
        environment.extend(variables);
        environment
    }
}

impl<N: Into<String>, V: Into<String>> Extend<(N, V)> for Environment {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, variables: I) {
        for (name, value) in variables {
            self.set(name, value);
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}
