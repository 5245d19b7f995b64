//! What each revision of the protocol may put on the wire.
//!
//! Each revision has one file with one [`Rules`] constant. Code elsewhere asks
//! the rules ("are batches received here?") and never which revision it is.

mod negotiate;
mod rules;
mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

use std::fmt;

pub use negotiate::{accept_handshake_version, choose_stateless_version, negotiate_handshake};
pub use rules::{HttpMode, IdScope, LogLevelSource, Rules, VersionHeader};

/// A revision of the protocol that this crate speaks.
///
/// Version strings from the wire become one of these, or stop at the edge.
///
/// ```
/// use bowline_proto::revision::Revision;
///
/// let revision = Revision::parse("2025-06-18").unwrap();
/// assert!(!revision.rules().batching);
/// assert_eq!(Revision::parse("1.0"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05, the first: HTTP with two endpoints.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP, batches, audio, hints about tools.
    V2025_03_26,
    /// 2025-06-18: structured results, elicitation; no more batches.
    V2025_06_18,
    /// 2025-11-25: tasks, icons, elicitation by URL, tools in sampling.
    V2025_11_25,
    /// 2026-07-28: no handshake, no sessions, no requests from the server.
    V2026_07_28,
}

/// The two ways in which a connection lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then a session that both sides remember.
    Handshake,
    /// Every request says all that there is to know of its sender.
    Stateless,
}

impl Revision {
    /// All revisions, the oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that opens with a handshake.
    pub const LATEST_HANDSHAKE: Self = Self::V2025_11_25;

    /// The revision to assume of an HTTP request after the handshake that does
    /// not name one: the last that had no header for it.
    pub const DEFAULT_OVER_HTTP: Self = Self::V2025_03_26;

    /// The version string on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision that a version string names, if this crate speaks it.
    #[must_use]
    pub fn parse(version: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == version)
    }

    /// What holds in this revision.
    #[must_use]
    pub const fn rules(self) -> &'static Rules {
        match self {
            Self::V2024_11_05 => &v2024_11_05::RULES,
            Self::V2025_03_26 => &v2025_03_26::RULES,
            Self::V2025_06_18 => &v2025_06_18::RULES,
            Self::V2025_11_25 => &v2025_11_25::RULES,
            Self::V2026_07_28 => &v2026_07_28::RULES,
        }
    }

    /// How a connection lives in this revision.
    #[must_use]
    pub const fn era(self) -> Era {
        self.rules().era
    }
}

/// The revisions that open with a handshake, the newest first.
pub fn handshake_revisions() -> impl Iterator<Item = Revision> {
    revisions_in_era(Era::Handshake)
}

/// The revisions without a handshake, the newest first.
pub fn stateless_revisions() -> impl Iterator<Item = Revision> {
    revisions_in_era(Era::Stateless)
}

fn revisions_in_era(era: Era) -> impl Iterator<Item = Revision> {
    Revision::ALL
        .into_iter()
        .rev()
        .filter(move |revision| revision.era() == era)
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
