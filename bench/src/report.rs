//! The results as text: medians, their spread, and ratios.

use std::fmt::Write as _;

use crate::{
    contender::{Contender, Link},
    measure::Sample,
};

/// Above this load the machine is not ours alone.
const QUIET: f64 = 1.5;

/// Everything that was measured.
#[derive(Debug)]
pub struct Report {
    /// Each contender and its samples, one per round.
    pub samples: Vec<(Contender, Vec<Sample>)>,
    /// What was counted for each library.
    pub allocations: Vec<Allocations>,
    /// The load average when it began, where the system tells.
    pub load: Option<f64>,
    /// How many cores there are.
    pub cores: usize,
}

/// Allocations per call of one library.
#[derive(Clone, Debug)]
pub struct Allocations {
    /// The library.
    pub name: String,
    /// Allocations and bytes one at a time, then with many in flight.
    pub figures: [f64; 4],
}

type Pick = fn(&Sample) -> f64;

/// A column: its title, which number it shows, and whether more is better.
const COLUMNS: &[(&str, Pick, bool)] = &[
    ("sequential p50, µs", |sample| sample.p50, false),
    ("sequential p99, µs", |sample| sample.p99, false),
    ("64 in flight, calls/s", |sample| sample.rate, true),
    ("64 in flight, CPU µs/call", |sample| sample.cpu, false),
];

impl Report {
    /// The whole report.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from("# What a call costs the client\n\n");
        text.push_str(&self.warning());
        text.push_str(&self.preamble());
        text.push_str(&self.figures());
        text.push_str(&self.ratios());
        text.push_str(&self.counts());
        text.push_str(&self.targets());
        text
    }

    fn warning(&self) -> String {
        match self.load {
            Some(load) if load > QUIET => format!(
                "> **Not a quiet machine: the load average was {load:.1} at the start, \
                 over {QUIET}.** Times are too long and spread widely. Ratios \
                 move with the load too, those of many threads the most. Only allocation counts \
                 are exact.\n\n"
            ),
            Some(_) => String::new(),
            None => "> The load of the machine is not known.\n\n".to_owned(),
        }
    }

    fn preamble(&self) -> String {
        let rounds = self.samples.first().map_or(0, |(_, samples)| samples.len());
        format!(
            "Written by `cargo xtask bench`. {} cores, {rounds} rounds, all contenders in turn in \
             each. Each figure is the median over the rounds, with the least and the greatest in \
             brackets. Seconds differ from machine to machine and from hour to hour; ratios are \
             what counts.\n\n\
             Every call is `tools/call` of a tool `echo` with a text of 44 bytes there and back, \
             revision 2025-11-25, default settings. *child*: the same minimal blocking server as a \
             child process, over pipes; CPU is that of the client's process alone. *memory*, \
             *duplex*: the same answers from a task of the same runtime, so that CPU includes the \
             server. These two are not the same: frames change hands in *memory*, while *duplex*, the \
             nearest that rmcp has, copies bytes and looks for line ends, so that ratios between \
             them flatter bowline. The raw limit decodes nothing and has one thread. Arguments are \
             made once; rmcp takes them by value, so that its calls clone them (3 allocations).\n\n\
             Over pipes, the time of a call on its own depends on whether the system runs the two \
             processes on one core or on two; it decides anew each round, and the brackets show it. \
             A run that is pinned to one core takes that out.\n\n",
            self.cores,
        )
    }

    fn figures(&self) -> String {
        let mut text = table_head("client", COLUMNS.iter().map(|column| column.0));
        for (contender, samples) in &self.samples {
            let _ = write!(text, "| {} |", contender.name());
            for (_, pick, _) in COLUMNS {
                let values = samples.iter().map(pick).collect();
                let _ = write!(text, " {} |", Spread::of(values).text());
            }
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn ratios(&self) -> String {
        let mut text = String::from(
            "How many times better than rmcp, taken within each round (under 1 is worse):\n\n",
        );
        text.push_str(&table_head("client", COLUMNS.iter().map(|column| column.0)));
        for (contender, _) in &self.samples {
            let Some(rival) = contender.rival() else {
                continue;
            };
            let _ = write!(text, "| {} |", contender.name());
            for &(_, pick, more) in COLUMNS {
                let _ = write!(
                    text,
                    " {} |",
                    self.ratio(*contender, rival, pick, more).text()
                );
            }
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn ratio(&self, ours: Contender, theirs: Contender, pick: Pick, more: bool) -> Spread {
        let pairs = self.of(ours).iter().zip(self.of(theirs));
        let ratios = pairs.map(|(ours, theirs)| match more {
            true => pick(ours) / pick(theirs),
            false => pick(theirs) / pick(ours),
        });
        Spread::of(ratios.collect())
    }

    fn of(&self, contender: Contender) -> &[Sample] {
        let found = self.samples.iter().find(|(other, _)| *other == contender);
        found.map_or(&[], |(_, samples)| samples)
    }

    fn counts(&self) -> String {
        let mut text = String::from("In the client's process, per call, over pipes:\n\n");
        text.push_str(&table_head(
            "client",
            [
                "sequential, allocations",
                "sequential, bytes",
                "64 in flight, allocations",
                "64 in flight, bytes",
            ]
            .into_iter(),
        ));
        for Allocations { name, figures } in &self.allocations {
            let _ = write!(text, "| {name} |");
            for (index, figure) in figures.iter().enumerate() {
                let digits = usize::from(index % 2 == 0);
                let _ = write!(text, " {figure:.digits$} |");
            }
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn targets(&self) -> String {
        let mut text = String::from("Targets");
        if self.load.is_none_or(|load| load > QUIET) {
            text.push_str(", as far as a machine that is not quiet can tell");
        }
        text.push_str(":\n\n");
        let ours = self
            .allocations
            .iter()
            .find(|counted| counted.name == "bowline");
        if let Some(ours) = ours {
            let most = ours.figures[0].max(ours.figures[2]);
            let _ = writeln!(
                text,
                "- at most 20 allocations per call: {} ({most:.1})",
                verdict(most <= 20.0)
            );
        }
        for (contender, _) in &self.samples {
            // Over memory the two do not do the same.
            let (Some(rival), Contender::Client(_, Link::Child, _)) =
                (contender.rival(), contender)
            else {
                continue;
            };
            let ratio = self.ratio(*contender, rival, |sample| sample.rate, true);
            let _ = writeln!(
                text,
                "- 64 in flight at 3 times rmcp or more in every round, {}: {}, {}",
                contender.name(),
                verdict(ratio.least >= 3.0),
                ratio.text()
            );
        }
        text
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

fn table_head<'a>(first: &str, rest: impl Iterator<Item = &'a str>) -> String {
    let (mut titles, mut line) = (format!("| {first} |"), String::from("|---|"));
    for title in rest {
        let _ = write!(titles, " {title} |");
        line.push_str("---:|");
    }
    format!("{titles}\n{line}\n")
}

/// A median, and how far the rounds lie apart.
struct Spread {
    least: f64,
    middle: f64,
    greatest: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let half = values.len() / 2;
        let middle = match values.len() % 2 {
            0 => (at(half.saturating_sub(1)) + at(half)) / 2.0,
            _ => at(half),
        };
        Self {
            least: at(0),
            middle,
            greatest: at(values.len().saturating_sub(1)),
        }
    }

    fn text(&self) -> String {
        let digits = match self.middle {
            middle if middle >= 1000.0 => 0,
            middle if middle >= 10.0 => 1,
            _ => 2,
        };
        let Self {
            least,
            middle,
            greatest,
        } = self;
        format!("{middle:.digits$} ({least:.digits$}–{greatest:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(Spread::of(vec![4.0, 1.0, 2.0]).text(), "2.00 (1.00–4.00)");
        assert_eq!(Spread::of(vec![4000.0, 1000.0]).text(), "2500 (1000–4000)");
    }
}
