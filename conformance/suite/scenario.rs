//! Which scenarios there are, by what the suite lists.

use std::fmt;

/// Which side of the protocol is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    Server,
    Client,
}

impl Leg {
    pub const ALL: [Self; 2] = [Self::Server, Self::Client];

    /// The suite's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|leg| leg.word() == word)
    }
}

impl fmt::Display for Leg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Which scenarios are run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// What a revision requires, by its date.
    Requirements(&'static str),
    /// Everything that the suite has.
    All,
}

impl Set {
    pub const EVERY: [Self; 3] = [
        Self::Requirements("2025-11-25"),
        Self::Requirements("2026-07-28"),
        Self::All,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Requirements(revision) => revision,
            Self::All => "all",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|set| set.word() == word)
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One scenario of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    pub leg: Leg,
    pub name: String,
    /// Whether the suite counts it for the revision. We count all.
    pub scored: bool,
}

/// Reads what `conformance list` prints.
pub fn parse(text: &str, set: Set) -> Vec<Scenario> {
    let mut section = None;
    let mut scenarios = Vec::new();
    for line in text.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            section = Section::of(line);
        }
        let Some(entry) = line.trim_start().strip_prefix("- ") else {
            continue;
        };
        let (name, tag) = entry.split_once(" [").unwrap_or((entry, ""));
        let (leg, scored) = match section {
            Some(Section::Of(leg)) => (Some(leg), set != Set::All),
            // There each says in brackets what it is for.
            Some(Section::NotScored) => (Leg::parse(tag.trim_end_matches(']')), false),
            None => (None, false),
        };
        scenarios.extend(leg.map(|leg| Scenario {
            leg,
            name: name.to_owned(),
            scored,
        }));
    }
    scenarios
}

/// A part of the list.
enum Section {
    Of(Leg),
    NotScored,
}

impl Section {
    fn of(heading: &str) -> Option<Self> {
        if heading.starts_with("Server scenarios") {
            Some(Self::Of(Leg::Server))
        } else if heading.starts_with("Client scenarios") {
            Some(Self::Of(Leg::Client))
        } else if heading.starts_with("Run and reported") {
            Some(Self::NotScored)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(leg: Leg, name: &str, scored: bool) -> Scenario {
        Scenario {
            leg,
            name: name.to_owned(),
            scored,
        }
    }

    #[test]
    fn a_revision_requires_some_and_reports_others() {
        let text = "\
Required for 2025-11-25 (48 scenarios, frozen; run at the 2025-11-25 wire):

Server scenarios (test against a server):
  - server-initialize
  - ping

Client scenarios (test against a client):
  - auth/metadata-default

Run and reported, but never scored:
  extension (6):
    - auth/client-credentials-jwt [client]
  pending (2):
    - json-schema-2020-12 [server]
";
        assert_eq!(
            parse(text, Set::Requirements("2025-11-25")),
            [
                scenario(Leg::Server, "server-initialize", true),
                scenario(Leg::Server, "ping", true),
                scenario(Leg::Client, "auth/metadata-default", true),
                scenario(Leg::Client, "auth/client-credentials-jwt", false),
                scenario(Leg::Server, "json-schema-2020-12", false),
            ]
        );
    }

    #[test]
    fn authorization_servers_are_not_ours() {
        let text = "\
Server scenarios (test against a server):
  - server-initialize [2025-06-18,2025-11-25]

Client scenarios (test against a client):
  - initialize [2025-06-18,2025-11-25]

Authorization server scenarios (test against an authorization server):
  - authorization-code-grant [2025-03-26,2026-07-28]
";
        assert_eq!(
            parse(text, Set::All),
            [
                scenario(Leg::Server, "server-initialize", false),
                scenario(Leg::Client, "initialize", false),
            ]
        );
    }
}
