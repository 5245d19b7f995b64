//! The outcomes, counted.

use std::{collections::BTreeMap, fmt};

use crate::outcome::{Column, Kind, Outcome};

/// How many calls of each kind ended in which way.
#[derive(Clone, Debug, Default)]
pub struct Table {
    counts: BTreeMap<Kind, BTreeMap<Column, u64>>,
    reasons: BTreeMap<(Column, Kind, String), u64>,
}

impl Table {
    /// Counts outcomes.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut table = Self::default();
        for outcome in outcomes {
            let column = outcome.end.column();
            let row = table.counts.entry(outcome.kind).or_default();
            *row.entry(column).or_default() += 1;
            if let Some(reason) = outcome.end.reason() {
                let reason = (column, outcome.kind, reason);
                *table.reasons.entry(reason).or_default() += 1;
            }
        }
        table
    }

    /// Returns how many ended in this way.
    #[must_use]
    pub fn count(&self, column: Column) -> u64 {
        let rows = self.counts.values();
        rows.map(|row| row.get(&column).copied().unwrap_or_default())
            .sum()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<16}", "")?;
        for column in Column::ALL {
            write!(f, "{:>11}", format!("{column:?}").to_lowercase())?;
        }
        for (kind, row) in &self.counts {
            write!(f, "\n{kind:<16}")?;
            for column in Column::ALL {
                write!(f, "{:>11}", row.get(&column).copied().unwrap_or_default())?;
            }
        }
        write!(f, "\n{:<16}", "all")?;
        for column in Column::ALL {
            write!(f, "{:>11}", self.count(column))?;
        }
        for ((column, kind, reason), count) in &self.reasons {
            let column = format!("{column:?}").to_lowercase();
            write!(f, "\n  {count:>7} {column}, {kind}: {reason}")?;
        }
        Ok(())
    }
}
