//! Which value a server's variable gets, of all the places that name one.

use std::collections::{BTreeMap, BTreeSet};

use super::Environment;

/// What the names of these variables begin with.
pub(super) const PREFIX: &str = "MCP_";

/// The user's servers, as the names of variables see them.
#[derive(Clone, Debug, Default)]
pub(super) struct VariablePrefixes {
    /// The names by their prefix. `git-hub` and `git_hub` have the same.
    names: BTreeMap<String, BTreeSet<String>>,
}

/// What an environment says of a server.
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

    /// The prefix of the server that a variable is meant for: of the longest
    /// name that fits, so that `MCP_GIT_HUB_TOKEN` is a secret of `git-hub`, and
    /// does not reach `git`.
    fn owning_prefix(&self, variable: &str) -> Option<&str> {
        let ends = variable.rmatch_indices('_').map(|(at, _)| at + 1);
        ends.filter(|&end| end < variable.len())
            .find_map(|end| self.names.get_key_value(&variable[..end]))
            .map(|(prefix, _)| prefix.as_str())
    }
}

impl Overrides<'_> {
    /// The value that a variable of the server gets in place of the one in its
    /// file, if it does: `MCP_<SERVER>_<NAME>`, or else `MCP_<NAME>`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let server_variable = format!("{}{name}", self.prefix);
        let shared_variable = format!("{PREFIX}{name}");
        let mut values = [server_variable, shared_variable]
            .into_iter()
            .filter(|variable| self.applies(variable))
            .filter_map(|variable| self.environment.get(&variable));
        values.next()
    }

    /// The variables `MCP_<SERVER>_<NAME>`, by their `NAME`.
    pub(super) fn server_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let server_variable = self.environment.with_prefix(&self.prefix);
        server_variable
            .filter(|(name, _)| !name.is_empty() && self.applies(&format!("{}{name}", self.prefix)))
    }

    /// The other names that the variables of this server could be meant for,
    /// if there are both. Then nobody gets them.
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

    /// Whether a variable is meant for this server, or for any.
    fn applies(&self, variable: &str) -> bool {
        let Some(owner) = self.prefixes.owning_prefix(variable) else {
            // Without a name in it, it is for all who list it.
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
