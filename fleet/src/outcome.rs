//! How a call ended, as its client saw it.

use std::fmt;

pub use crate::node::Report;

/// A call, from its first request to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The name that the client gave the call.
    pub conversation: String,
    /// How it was made.
    pub kind: Kind,
    /// How many requests may have begun it: each begins a course of its own.
    pub beginnings: u32,
    /// How it ended.
    pub end: End,
    /// What else was reported about it: to repetitions, and to others who answered.
    pub also_reported: Vec<Report>,
}

/// How a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// By rounds, in revision 2026-07-28.
    Rounds,
    /// As a task of the extension.
    ExtensionTask,
    /// As a task of the core, in revision 2025-11-25.
    CoreTask,
    /// With questions, in a session.
    LiveCall,
    /// Without questions, in a session.
    PlainCall,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Rounds => "rounds",
            Self::ExtensionTask => "extension task",
            Self::CoreTask => "core task",
            Self::LiveCall => "live call",
            Self::PlainCall => "plain call",
        };
        f.pad(name)
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The tool returned this.
    Reported(Report),
    /// The server refused to go on with it.
    Refused(String),
    /// The client cancelled it.
    Cancelled,
    /// The client was told, or has to assume, that it may have had effects.
    Unknown(&'static str),
    /// The server does not know the session, and did nothing.
    LostSession,
    /// The server does not know the task any more.
    LostTask,
    /// Nothing that says how it ended, although it was asked for long enough.
    Stuck(String),
}

impl End {
    /// Returns the column of the table that it belongs to.
    #[must_use]
    pub fn column(&self) -> Column {
        match self {
            Self::Reported(report) if !report.unknown.is_empty() => Column::Unknown,
            Self::Reported(report) if !report.void.is_empty() => Column::Void,
            Self::Reported(_) => Column::Completed,
            Self::Refused(_) => Column::Refused,
            Self::Cancelled => Column::Cancelled,
            Self::Unknown(_) => Column::Unknown,
            Self::LostSession | Self::LostTask => Column::Lost,
            Self::Stuck(_) => Column::Stuck,
        }
    }

    /// Returns why, for the kinds of which there are several.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Reported(report) if !report.unknown.is_empty() => Some(format!(
                "the node died in step {}",
                report.unknown.join(", ")
            )),
            Self::Reported(report) if !report.void.is_empty() => {
                Some(format!("{} did not happen", report.void.join(", ")))
            }
            Self::Refused(why) | Self::Stuck(why) => Some(why.clone()),
            Self::Unknown(why) => Some((*why).to_owned()),
            Self::LostSession => Some("the session is lost".to_owned()),
            Self::LostTask => Some("the task is lost".to_owned()),
            Self::Reported(_) | Self::Cancelled => None,
        }
    }
}

/// The columns of the table of outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// All steps happened.
    Completed,
    /// A step certainly did not happen, and the call ended there.
    Void,
    /// The server refused to go on.
    Refused,
    /// The client cancelled it.
    Cancelled,
    /// Whether a step happened is unknown.
    Unknown,
    /// The session or task is gone.
    Lost,
    /// It has not ended.
    Stuck,
}

impl Column {
    /// All columns, in order.
    pub const ALL: [Self; 7] = [
        Self::Completed,
        Self::Void,
        Self::Refused,
        Self::Cancelled,
        Self::Unknown,
        Self::Lost,
        Self::Stuck,
    ];
}
