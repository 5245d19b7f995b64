//! What is measured: a figure, and whose it is.

use serde::{Deserialize, Serialize};

/// One line of the results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// A short name that never changes, like `stdio.parallel.rate`.
    pub(crate) id: &'static str,
    /// What a reader sees.
    pub(crate) title: &'static str,
    /// Calls/s, µs, bytes.
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// What ours must reach.
    pub(crate) targets: &'static [Target],
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Better {
    /// The more, the better.
    More,
    /// The less, the better.
    Less,
}

/// What ours must reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Target {
    /// So many times as good as the better one of rmcp's two.
    TimesRmcp(f64),
    /// This part of what the limit reaches. For what is better the less, the
    /// limit over ours.
    OfLimit(f64),
    /// So many times as good as the crate jsonschema.
    TimesJsonschema(f64),
    /// No more than this.
    AtMost(f64),
}

/// Whose figure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Who {
    /// Ours, with default settings, as the guides show it.
    Ours,
    /// rmcp, as its documentation shows it.
    Rmcp,
    /// rmcp, with everything set as is best for it.
    RmcpTuned,
    /// The crate jsonschema.
    Jsonschema,
    /// The least that does the same work.
    Limit,
    /// The least that is possible, doing less than all the work.
    Bare,
}

impl Who {
    /// All, in the order of the tables.
    pub(crate) const ALL: [Self; 6] = [
        Self::Ours,
        Self::Rmcp,
        Self::RmcpTuned,
        Self::Jsonschema,
        Self::Limit,
        Self::Bare,
    ];

    /// What a reader sees.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "Bowline",
            Self::Rmcp => "rmcp, as shown",
            Self::RmcpTuned => "rmcp, tuned",
            Self::Jsonschema => "jsonschema",
            Self::Limit => "baseline",
            Self::Bare => "bare baseline",
        }
    }
}
