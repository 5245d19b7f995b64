//! Which value a server's variable gets, of all the places that name one.

use std::collections::{BTreeMap, BTreeSet};

use super::Environment;

/// What the names of these variables begin with.
pub(super) const ALL: &str = "MCP_";

/// The user's servers, as the names of variables see them.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    /// The names by their prefix. `git-hub` and `git_hub` have the same.
    names: BTreeMap<String, BTreeSet<String>>,
}

/// What an environment says of a server.
pub(super) struct Overrides<'a> {
    environment: &'a Environment,
    prefixes: &'a Prefixes,
    prefix: String,
}

impl Prefixes {
    pub(super) fn add<'a>(&mut self, servers: impl IntoIterator<Item = &'a str>) {
        for server in servers {
            let names = self.names.entry(prefix(server)).or_default();
            names.insert(server.to_owned());
        }
    }

    pub(super) fn of<'a>(&'a self, server: &str, environment: &'a Environment) -> Overrides<'a> {
        Overrides {
            environment,
            prefixes: self,
            prefix: prefix(server),
        }
    }

    /// The prefix of the server that a variable is meant for: of the longest
    /// name that fits, so that `MCP_GIT_HUB_TOKEN` is a secret of `git-hub`, and
    /// does not reach `git`.
    fn owner(&self, variable: &str) -> Option<&str> {
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
        let own = format!("{}{name}", self.prefix);
        let general = format!("{ALL}{name}");
        let mut values = [own, general]
            .into_iter()
            .filter(|variable| self.may_have(variable))
            .filter_map(|variable| self.environment.get(&variable));
        values.next()
    }

    /// The variables `MCP_<SERVER>_<NAME>`, by their `NAME`.
    pub(super) fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.environment.below(&self.prefix);
        own.filter(|(name, _)| !name.is_empty() && self.may_have(&format!("{}{name}", self.prefix)))
    }

    /// The other names that the variables of this server could be meant for,
    /// if there are both. Then nobody gets them.
    pub(super) fn rivals(&self, server: &str) -> Vec<&str> {
        let Some(names) = self.prefixes.names.get(&self.prefix) else {
            return Vec::new();
        };
        let is_meant = |(name, _): (&str, &str)| {
            let variable = format!("{}{name}", self.prefix);
            self.prefixes.owner(&variable) == Some(&self.prefix)
        };
        if names.len() < 2 || !self.environment.below(&self.prefix).any(is_meant) {
            return Vec::new();
        }
        let others = names.iter().map(String::as_str);
        others.filter(|name| *name != server).collect()
    }

    /// Whether a variable is meant for this server, or for any.
    fn may_have(&self, variable: &str) -> bool {
        let Some(owner) = self.prefixes.owner(variable) else {
            // Without a name in it, it is for all who list it.
            return true;
        };
        let is_alone = self
            .prefixes
            .names
            .get(owner)
            .is_some_and(|names| names.len() == 1);
        owner == self.prefix && is_alone
    }
}

fn prefix(server: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!("{ALL}{}_", server.chars().map(plain).collect::<String>())
}
