//! Which value a server's variable gets, of all the places that name one.

use std::collections::BTreeMap;

use super::Environment;

/// The servers of one file, as the names of variables see them.
pub(super) struct Prefixes {
    prefixes: Vec<String>,
}

impl Prefixes {
    pub(super) fn new<'a>(servers: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            prefixes: servers.into_iter().map(prefix).collect(),
        }
    }

    /// The variables of a server. Each of `listed` gets, by falling rank,
    /// `MCP_<SERVER>_<NAME>`, `MCP_<NAME>`, or what `resolve` makes of the
    /// value that is written in the file. Further variables of the form
    /// `MCP_<SERVER>_<NAME>` are passed on although they are not listed.
    pub(super) fn variables(
        &self,
        server: &str,
        environment: &Environment,
        listed: impl IntoIterator<Item = (String, String)>,
        mut resolve: impl FnMut(&str, &str) -> String,
    ) -> BTreeMap<String, String> {
        let prefix = prefix(server);
        let mut variables: BTreeMap<String, String> = environment
            .below(&prefix)
            .filter(|(name, _)| !name.is_empty() && self.owns(&prefix, name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        for (name, written) in listed {
            let own = environment.get(&format!("{prefix}{name}"));
            let general = || environment.get(&format!("MCP_{name}"));
            // A reference that is overridden need not be resolvable.
            let value = match own.or_else(general) {
                Some(value) => value.to_owned(),
                None => resolve(&name, &written),
            };
            variables.insert(name, value);
        }
        variables
    }

    /// Whether `<prefix><name>` is meant for the server of this prefix, and not
    /// for one with a longer name. `MCP_GIT_HUB_TOKEN` is a secret of `git-hub`
    /// and must not reach `git`.
    fn owns(&self, prefix: &str, name: &str) -> bool {
        let variable = format!("{prefix}{name}");
        let meant_for = |other: &String| {
            other.len() > prefix.len()
                && variable.len() > other.len()
                && variable.starts_with(other.as_str())
        };
        !self.prefixes.iter().any(meant_for)
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
    format!("MCP_{}_", server.chars().map(plain).collect::<String>())
}
