//! Overriding a server's variables from the environment.

use std::collections::{BTreeMap, BTreeSet};

use super::Environment;

/// The prefix of these variables.
pub(super) const PREFIX: &str = "MCP_";

/// The user's servers by their variable prefixes.
#[derive(Clone, Debug, Default)]
pub(super) struct VariablePrefixes {
    /// The names by prefix. `git-hub` and `git_hub` have the same one.
    names: BTreeMap<String, BTreeSet<String>>,
}

/// The variables of an environment that concern one server.
pub(super) struct Overrides<'a> {
    environment: &'a Environment,
    prefixes: &'a VariablePrefixes,
    prefix: String,
}

impl VariablePrefixes {
    pub(super) fn add<'a>(&mut self, servers: impl IntoIterator<Item = &'a str>) {
        for server in servers {
            let names = self.names.entry(prefix(server)).or_default();
            names.insert(server.to_owned());
        }
    }

    pub(super) fn overrides_for<'a>(
        &'a self,
        server: &str,
        environment: &'a Environment,
    ) -> Overrides<'a> {
        Overrides {
            environment,
            prefixes: self,
            prefix: prefix(server),
        }
    }

    /// Returns the prefix of the server that a variable belongs to: the longest one
    /// that matches, so `MCP_GIT_HUB_TOKEN` belongs to `git-hub` and does not reach
    /// `git`.
    fn owning_prefix(&self, variable: &str) -> Option<&str> {
        let ends = variable.rmatch_indices('_').map(|(at, _)| at + 1);
        ends.filter(|&end| end < variable.len())
            .find_map(|end| self.names.get_key_value(&variable[..end]))
            .map(|(prefix, _)| prefix.as_str())
    }
}

impl Overrides<'_> {
    /// Returns the value that overrides a variable of the server, if there is one:
    /// `MCP_<SERVER>_<NAME>`, or else `MCP_<NAME>`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let server_variable = format!("{}{name}", self.prefix);
        let shared_variable = format!("{PREFIX}{name}");
        let mut values = [server_variable, shared_variable]
            .into_iter()
            .filter(|variable| self.applies(variable))
            .filter_map(|variable| self.environment.get(&variable));
        values.next()
    }

    /// Returns the variables `MCP_<SERVER>_<NAME>`, by their `NAME`.
    pub(super) fn server_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let server_variable = self.environment.with_prefix(&self.prefix);
        server_variable
            .filter(|(name, _)| !name.is_empty() && self.applies(&format!("{}{name}", self.prefix)))
    }

    /// Returns the other names with the same prefix, if such variables exist. Then no
    /// server gets them.
    pub(super) fn conflicting_names(&self, server: &str) -> Vec<&str> {
        let Some(names) = self.prefixes.names.get(&self.prefix) else {
            return Vec::new();
        };
        let is_owned = |(name, _): (&str, &str)| {
            let variable = format!("{}{name}", self.prefix);
            self.prefixes.owning_prefix(&variable) == Some(&self.prefix)
        };
        if names.len() < 2 || !self.environment.with_prefix(&self.prefix).any(is_owned) {
            return Vec::new();
        }
        let other_names = names.iter().map(String::as_str);
        other_names.filter(|name| *name != server).collect()
    }

    /// Returns whether a variable is for this server, or for any.
    fn applies(&self, variable: &str) -> bool {
        let Some(owner) = self.prefixes.owning_prefix(variable) else {
            // A variable without a server's name is for every server that lists it.
            return true;
        };
        let is_unique = self
            .prefixes
            .names
            .get(owner)
            .is_some_and(|names| names.len() == 1);
        owner == self.prefix && is_unique
    }
}

fn prefix(server: &str) -> String {
    let to_prefix_char = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!(
        "{PREFIX}{}_",
        server.chars().map(to_prefix_char).collect::<String>()
    )
}
