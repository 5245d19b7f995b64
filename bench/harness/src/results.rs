//! What came out: samples of every round, as they are kept in a file.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    Failure,
    figure::{Better, Figure, Target, Who},
};

/// The results of one group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) group: String,
    pub(crate) about: String,
    pub(crate) machine: Machine,
    pub(crate) figures: Vec<Line>,
}

/// What it ran on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) compiler: String,
    /// Which part of the processors others took before a round, at worst.
    pub(crate) busy: f64,
}

/// One figure, and the samples of all that have it, one per round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) unit: String,
    pub(crate) better: Better,
    pub(crate) targets: Vec<Target>,
    pub(crate) samples: BTreeMap<Who, Vec<f64>>,
}

/// The middle of some samples, with the least and the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Results {
    /// Reads a file of results.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes it, so that changes can be read.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }

    /// How many rounds there were.
    pub(crate) fn rounds(&self) -> usize {
        let samples = self.figures.iter().flat_map(|line| line.samples.values());
        samples.map(Vec::len).max().unwrap_or(0)
    }
}

impl Line {
    /// A line without samples.
    pub(crate) fn new(figure: &Figure) -> Self {
        Self {
            id: figure.id.to_owned(),
            title: figure.title.to_owned(),
            unit: figure.unit.to_owned(),
            better: figure.better,
            targets: figure.targets.to_vec(),
            samples: BTreeMap::new(),
        }
    }

    /// What one of them reached.
    pub(crate) fn of(&self, who: Who) -> Option<Spread> {
        Spread::of(self.samples.get(&who)?)
    }

    /// The better one of rmcp's two.
    pub(crate) fn rival(&self) -> Option<Who> {
        let tuned = match (self.of(Who::Rmcp), self.of(Who::RmcpTuned)) {
            (None, None) => return None,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some(shown), Some(tuned)) => match self.better {
                Better::More => tuned.median > shown.median,
                Better::Less => tuned.median < shown.median,
            },
        };
        Some(if tuned { Who::RmcpTuned } else { Who::Rmcp })
    }

    /// How many times as good ours is as another, taken within each round:
    /// over 1 is better, whichever way the figure goes.
    pub(crate) fn ratio(&self, other: Who) -> Option<Spread> {
        let (ours, other) = (self.samples.get(&Who::Ours)?, self.samples.get(&other)?);
        let pairs = ours.iter().zip(other);
        let ratios: Vec<f64> = pairs
            .map(|(ours, other)| match self.better {
                Better::More => ours / other,
                Better::Less => other / ours,
            })
            .filter(|ratio| ratio.is_finite())
            .collect();
        Spread::of(&ratios)
    }

    /// Whether ours reaches a target. `None` where there is nothing to tell by.
    pub(crate) fn reaches(&self, target: Target) -> Option<bool> {
        Some(match target {
            Target::TimesRmcp(times) => self.ratio(self.rival()?)?.median >= times,
            Target::OfLimit(part) => self.ratio(Who::Limit)?.median >= part,
            Target::TimesJsonschema(times) => self.ratio(Who::Jsonschema)?.median >= times,
            Target::AtMost(most) => self.of(Who::Ours)?.median <= most,
        })
    }
}

impl Spread {
    fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        Some(Self {
            median,
            least,
            most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(better: Better, samples: &[(Who, &[f64])]) -> Line {
        let samples = samples.iter().map(|(who, all)| (*who, all.to_vec()));
        Line {
            id: "a".into(),
            title: "a".into(),
            unit: "µs".into(),
            better,
            targets: Vec::new(),
            samples: samples.collect(),
        }
    }

    #[test]
    fn ratios_are_taken_within_rounds_and_over_one_is_better() {
        let samples: [(Who, &[f64]); 2] = [
            (Who::Ours, &[10.0, 100.0, 20.0]),
            (Who::Limit, &[5.0, 50.0, 20.0]),
        ];
        let more = line(Better::More, &samples).ratio(Who::Limit).unwrap();
        assert_eq!((more.median, more.least), (2.0, 1.0));
        let less = line(Better::Less, &samples).ratio(Who::Limit).unwrap();
        assert_eq!((less.median, less.most), (0.5, 1.0));
    }

    #[test]
    fn the_rival_is_the_better_of_the_two() {
        let samples: [(Who, &[f64]); 2] = [(Who::Rmcp, &[1.0]), (Who::RmcpTuned, &[2.0])];
        assert_eq!(line(Better::More, &samples).rival(), Some(Who::RmcpTuned));
        assert_eq!(line(Better::Less, &samples).rival(), Some(Who::Rmcp));
        assert_eq!(
            line(Better::Less, &samples[1..]).rival(),
            Some(Who::RmcpTuned)
        );
        assert_eq!(line(Better::Less, &[]).rival(), None);
    }

    #[test]
    fn targets_are_judged_by_medians() {
        let samples: [(Who, &[f64]); 3] = [
            (Who::Ours, &[4.0, 9.0, 5.0]),
            (Who::Rmcp, &[15.0, 15.0, 15.0]),
            (Who::Limit, &[4.0, 4.0, 4.0]),
        ];
        let line = line(Better::Less, &samples);
        assert_eq!(line.reaches(Target::AtMost(5.0)), Some(true));
        assert_eq!(line.reaches(Target::TimesRmcp(3.0)), Some(true));
        assert_eq!(line.reaches(Target::OfLimit(0.9)), Some(false));
    }
}
