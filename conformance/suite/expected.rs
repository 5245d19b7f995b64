//! The scenarios that are known not to pass, each with the reason.

use crate::{Failure, scenario::Leg};

/// What is known not to pass.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Expected {
    entries: Vec<Entry>,
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    leg: Leg,
    scenario: String,
    reason: String,
}

impl Expected {
    /// Reads lines of the form `leg scenario: reason`. Empty lines, and those
    /// that begin with `#`, say nothing.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut entries: Vec<Entry> = Vec::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = entry(line).ok_or_else(|| {
                format!("line {number} of the expected failures is not `leg scenario: reason`")
            })?;
            let same = |other: &Entry| other.leg == entry.leg && other.scenario == entry.scenario;
            if entries.iter().any(same) {
                return Err(format!("{} is expected to fail twice", entry.scenario));
            }
            entries.push(entry);
        }
        Ok(Self { entries })
    }

    /// Why a scenario is known not to pass, if it is.
    pub fn reason(&self, leg: Leg, scenario: &str) -> Option<&str> {
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.leg == leg && entry.scenario == scenario);
        entry.map(|entry| entry.reason.as_str())
    }

    /// All that is known not to pass.
    pub fn scenarios(&self) -> impl Iterator<Item = (Leg, &str)> {
        self.entries
            .iter()
            .map(|entry| (entry.leg, entry.scenario.as_str()))
    }
}

fn entry(line: &str) -> Option<Entry> {
    let (what, reason) = line.split_once(": ")?;
    let (leg, scenario) = what.split_once(' ')?;
    let (scenario, reason) = (scenario.trim(), reason.trim());
    (!scenario.is_empty() && !reason.is_empty()).then_some(Entry {
        leg: Leg::parse(leg)?,
        scenario: scenario.to_owned(),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_reason() {
        let text = "# why\n\nclient auth/dpop: no OAuth yet\nserver ping: deaf\n";
        let expected = Expected::parse(text).unwrap();
        let reason = expected.reason(Leg::Client, "auth/dpop");
        assert_eq!(reason, Some("no OAuth yet"));
        assert_eq!(expected.reason(Leg::Server, "auth/dpop"), None);
        assert_eq!(expected.scenarios().count(), 2);
        for wrong in ["client auth/dpop", "client auth/dpop: ", "peer ping: deaf"] {
            assert!(Expected::parse(wrong).is_err(), "{wrong}");
        }
        let twice = "server ping: deaf\nserver ping: mute";
        assert!(Expected::parse(twice).is_err());
    }

    #[test]
    fn the_file_can_be_read() {
        Expected::parse(include_str!("../expected-failures.txt")).unwrap();
    }
}
