//! Figures that are measured together, by contenders that take turns.

use crate::{
    Failure,
    figure::{Figure, Who},
};

/// Figures that are measured together.
pub(crate) struct Group {
    /// What to call it on the command line; its results are in a file of that
    /// name.
    pub(crate) name: &'static str,
    /// What is measured, and how, for those who read the results.
    pub(crate) about: &'static str,
    pub(crate) figures: &'static [Figure],
    pub(crate) contenders: Vec<Contender>,
    /// Once is enough for what is counted, or takes minutes.
    pub(crate) once: bool,
}

/// One that takes turns with the others.
pub(crate) struct Contender {
    pub(crate) who: Who,
    pub(crate) measure: Box<dyn Fn(Scale) -> Result<Measured, Failure>>,
}

/// What came out, by the ids of the figures. A contender need not have all.
pub(crate) type Measured = Vec<(String, f64)>;

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// What results are made of.
    Full,
    /// To see whether it works.
    Quick,
}

impl Scale {
    /// How many of something, where a full run has this many.
    pub(crate) fn of(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => (full / 10).max(1),
        }
    }

    /// Rounds through all contenders.
    pub(crate) fn rounds(self) -> usize {
        match self {
            Self::Full => 7,
            Self::Quick => 2,
        }
    }
}
