//! What became of all scenarios, as a table, and what is wrong with it.

use std::fmt::Write as _;

use crate::{
    expected::Expected,
    gate::Verdict,
    scenario::{Leg, Scenario, Set},
};

/// What became of one scenario in one set.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub set: Set,
    pub scenario: Scenario,
    pub verdict: Verdict,
}

/// What became of all.
#[derive(Debug)]
pub struct Report {
    pub outcomes: Vec<Outcome>,
    pub expected: Expected,
}

impl Report {
    /// What must be mended. Of a part of the scenarios it cannot be said
    /// whether an expected failure is still one.
    pub fn problems(&self, whole: bool) -> Vec<String> {
        let mut problems = Vec::new();
        for outcome in self.failed() {
            let Scenario { leg, name, .. } = &outcome.scenario;
            if self.expected.reason(*leg, name).is_none() {
                let faults = outcome.verdict.faults.join("; ");
                problems.push(format!("{leg} {name} ({}): {faults}", outcome.set));
            }
        }
        if whole {
            problems.extend(self.stale());
        }
        problems
    }

    /// What is expected to fail and does not, in no set.
    fn stale(&self) -> Vec<String> {
        let fails = |leg, name: &str| {
            let mut failed = self.failed();
            failed.any(|outcome| outcome.scenario.leg == leg && outcome.scenario.name == name)
        };
        self.expected
            .scenarios()
            .filter(|&(leg, name)| !fails(leg, name))
            .map(|(leg, name)| {
                format!("{leg} {name} is expected to fail, and does not: take it off the list")
            })
            .collect()
    }

    fn failed(&self) -> impl Iterator<Item = &Outcome> {
        let failed = |outcome: &&Outcome| !outcome.verdict.passed();
        self.outcomes.iter().filter(failed)
    }

    /// The text of `RESULTS.md`. It is the same as long as no verdict changes:
    /// how many checks a scenario has depends on how much is said in it.
    pub fn markdown(&self, suite: &str) -> String {
        let mut text = format!(
            "# Conformance\n\n\
             What [the official suite](https://github.com/modelcontextprotocol/conformance), \
             version {suite}, says about Bowline. Written by `cargo xtask conformance`; \
             [README.md](README.md) says what counts as passing.\n\n\
             How many scenarios pass, of those that a revision requires; and in brackets, of \
             those that are run beside them and not scored.\n\n"
        );
        text.push_str(&self.totals());
        for leg in self.legs() {
            let _ = write!(text, "\n## {}\n\n", capital(leg.word()));
            text.push_str(&self.table(leg));
        }
        text
    }

    /// How many pass, by leg and set.
    fn totals(&self) -> String {
        let mut text = header("");
        for leg in self.legs() {
            let _ = write!(text, "| {leg} |");
            for set in Set::EVERY {
                let of = |scored| self.count(leg, set, scored);
                let cell = match (set, of(true), of(false)) {
                    (Set::All, _, (passed, all)) => format!("{passed} of {all}"),
                    (_, (scored, of_scored), (passed, all)) => {
                        format!("{scored} of {of_scored} ({passed} of {all})")
                    }
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
        text
    }

    /// The legs that were run.
    fn legs(&self) -> impl Iterator<Item = Leg> {
        let ran = |leg: &Leg| self.outcomes.iter().any(|it| it.scenario.leg == *leg);
        Leg::ALL.into_iter().filter(ran)
    }

    fn count(&self, leg: Leg, set: Set, scored: bool) -> (usize, usize) {
        let (mut passed, mut all) = (0, 0);
        for outcome in &self.outcomes {
            let scenario = &outcome.scenario;
            if (scenario.leg, outcome.set, scenario.scored) == (leg, set, scored) {
                all += 1;
                passed += usize::from(outcome.verdict.passed());
            }
        }
        (passed, all)
    }

    fn table(&self, leg: Leg) -> String {
        let mut text = header("scenario");
        let mut seen: Vec<&str> = Vec::new();
        // The longest list last: what only that has comes after the others.
        for outcome in &self.outcomes {
            let name = outcome.scenario.name.as_str();
            if outcome.scenario.leg != leg || seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let _ = write!(text, "| {name} |");
            for set in Set::EVERY {
                let _ = write!(text, " {} |", self.cell(leg, set, name));
            }
            text.push('\n');
        }
        text
    }

    fn cell(&self, leg: Leg, set: Set, name: &str) -> String {
        let found = self.outcomes.iter().find(|outcome| {
            outcome.set == set && outcome.scenario.leg == leg && outcome.scenario.name == name
        });
        let Some(outcome) = found else {
            return "–".to_owned();
        };
        let word = match self.expected.reason(leg, name) {
            _ if outcome.verdict.passed() => "pass",
            Some(reason) => &format!("fail: {reason}"),
            None => "**fail**",
        };
        match set {
            Set::Requirements(_) if !outcome.scenario.scored => format!("({word})"),
            _ => word.to_owned(),
        }
    }
}

fn header(first: &str) -> String {
    let mut text = format!("| {first} |");
    for set in Set::EVERY {
        let _ = write!(text, " {set} |");
    }
    text.push_str("\n|---|---|---|---|\n");
    text
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Set = Set::Requirements("2025-11-25");

    fn outcome(set: Set, leg: Leg, name: &str, scored: bool, faults: &[&str]) -> Outcome {
        Outcome {
            set,
            scenario: Scenario {
                leg,
                name: name.to_owned(),
                scored,
            },
            verdict: Verdict {
                successes: 1,
                faults: faults.iter().map(ToString::to_string).collect(),
            },
        }
    }

    fn report(expected: &str, outcomes: Vec<Outcome>) -> Report {
        Report {
            outcomes,
            expected: Expected::parse(expected).unwrap(),
        }
    }

    #[test]
    fn a_failure_that_nobody_expects_is_a_problem() {
        let ping = outcome(OLD, Leg::Server, "ping", true, &["it was not run"]);
        let found = report("", vec![ping.clone()]).problems(true);
        assert_eq!(found, ["server ping (2025-11-25): it was not run"]);
        let found = report("server ping: deaf", vec![ping]).problems(true);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn an_expected_failure_that_passes_is_a_problem() {
        let passes = outcome(OLD, Leg::Server, "ping", true, &[]);
        let report = report("server ping: deaf", vec![passes]);
        assert_eq!(report.problems(true).len(), 1);
        assert_eq!(report.problems(false), [""; 0], "others may still fail");
    }

    #[test]
    fn an_expected_failure_of_a_scenario_that_is_gone_is_a_problem() {
        let report = report("server pong: deaf", Vec::new());
        assert!(report.problems(true)[0].contains("server pong"));
    }

    #[test]
    fn the_table_has_a_row_for_each_scenario() {
        let report = report(
            "client auth/dpop: no OAuth yet",
            vec![
                outcome(OLD, Leg::Server, "ping", true, &[]),
                outcome(OLD, Leg::Client, "auth/dpop", false, &["failure"]),
                outcome(Set::All, Leg::Server, "ping", false, &["failure"]),
            ],
        );
        let text = report.markdown("1.0");
        for row in [
            "| server | 1 of 1 (0 of 0) | 0 of 0 (0 of 0) | 0 of 1 |\n",
            "| client | 0 of 0 (0 of 1) | 0 of 0 (0 of 0) | 0 of 0 |\n",
            "| ping | pass | – | **fail** |\n",
            "| auth/dpop | (fail: no OAuth yet) | – | – |\n",
        ] {
            assert!(text.contains(row), "{row}{text}");
        }
    }
}
