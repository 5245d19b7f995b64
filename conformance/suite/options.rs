//! What this program is told on its command line.

use crate::{
    Failure,
    scenario::{Leg, Set},
};

pub const USAGE: &str = "\
cargo xtask conformance [options]

Without options all sets are run, on both legs, and conformance/RESULTS.md is written.

  --leg server|client              only this leg
  --set 2025-11-25|2026-07-28|all  only this set
  --scenario NAME                  only this scenario
  --url URL                        another server than ours
";

/// What is to be run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub leg: Option<Leg>,
    pub set: Option<Set>,
    pub scenario: Option<String>,
    pub url: Option<String>,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next();
            let value = value.ok_or_else(|| format!("{word} needs a value\n\n{USAGE}"))?;
            let unknown = || format!("{word} cannot be {value}\n\n{USAGE}");
            match word.as_str() {
                "--leg" => options.leg = Some(Leg::parse(value).ok_or_else(unknown)?),
                "--set" => options.set = Some(Set::parse(value).ok_or_else(unknown)?),
                "--scenario" => options.scenario = Some(value.clone()),
                "--url" => options.url = Some(value.clone()),
                _ => return Err(format!("there is no {word}\n\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether everything is run, and ours.
    pub fn whole(&self) -> bool {
        *self == Self::default()
    }

    pub fn legs(&self) -> Vec<Leg> {
        // Another server has no client.
        let leg = self.leg.or(self.url.as_ref().map(|_| Leg::Server));
        leg.map_or_else(|| Leg::ALL.to_vec(), |leg| vec![leg])
    }

    pub fn sets(&self) -> Vec<Set> {
        self.set
            .map_or_else(|| Set::EVERY.to_vec(), |set| vec![set])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, Failure> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn everything_is_run_unless_told_otherwise() {
        let options = parse("").unwrap();
        assert!(options.whole());
        assert_eq!((options.legs().len(), options.sets().len()), (2, 3));
        let options = parse("--leg client --set all --scenario auth/dpop").unwrap();
        assert!(!options.whole());
        assert_eq!(options.legs(), [Leg::Client]);
        assert_eq!(options.sets(), [Set::All]);
        let options = parse("--url http://localhost:1/mcp").unwrap();
        assert_eq!(options.legs(), [Leg::Server]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in ["--leg", "--leg peer", "--set 2024-11-05", "--fast yes"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
