//! Protocol revisions and the rules of each one.
//!
//! Each revision has one file with one [`Rules`] constant. Other code checks the rules
//! ("is batching allowed?") and never compares revisions.

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

/// A protocol revision that this crate supports.
///
/// Version strings received from a peer are parsed into a `Revision`; unknown ones are
/// rejected at that point.
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
    /// 2024-11-05, the first revision: HTTP with two endpoints.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP, batches, audio, tool annotations.
    V2025_03_26,
    /// 2025-06-18: structured results, elicitation; batches removed.
    V2025_06_18,
    /// 2025-11-25: tasks, icons, URL elicitation, tools in sampling.
    V2025_11_25,
    /// 2026-07-28: no handshake, no sessions, no requests from the server.
    V2026_07_28,
}

/// The two connection models of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then a session that both sides keep state for.
    Handshake,
    /// Every request carries everything the server must know about its sender.
    Stateless,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that starts with a handshake.
    pub const LATEST_HANDSHAKE: Self = Self::V2025_11_25;

    /// The revision to assume for an HTTP request after the handshake that does not
    /// name one: the last revision without a version header.
    pub const DEFAULT_OVER_HTTP: Self = Self::V2025_03_26;

    /// Returns the version string used on the wire.
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

    /// Returns the revision for a version string, or `None` if this crate does not
    /// support it.
    #[must_use]
    pub fn parse(version: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == version)
    }

    /// Returns the rules of this revision.
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

    /// Returns the era of this revision.
    #[must_use]
    pub const fn era(self) -> Era {
        self.rules().era
    }
}

/// Returns the revisions that start with a handshake, newest first.
pub fn handshake_revisions() -> impl Iterator<Item = Revision> {
    revisions_in_era(Era::Handshake)
}

/// Returns the revisions without a handshake, newest first.
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
