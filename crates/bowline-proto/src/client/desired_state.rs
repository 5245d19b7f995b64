//! The desired state: what the host wants restored after every reconnection.

use std::collections::BTreeSet;

use crate::model::LogLevel;

/// Settings and subscriptions that outlive a session.
#[derive(Debug, Default)]
pub(super) struct DesiredState {
    /// Resources whose changes are wanted.
    pub(super) uris: BTreeSet<Box<str>>,
    /// Lists whose changes are wanted.
    pub(super) lists: ListSubscriptions,
    /// The minimum level of log messages.
    pub(super) log_level: Option<LogLevel>,
}

impl DesiredState {
    pub(super) fn new(log_level: Option<LogLevel>) -> Self {
        Self {
            log_level,
            ..Self::default()
        }
    }
}

/// The lists whose changes the host wants to be notified about.
///
/// Up to 2025-11-25 servers announce all changes. In later revisions they announce only
/// those that were requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListSubscriptions {
    /// The list of tools.
    pub tools: bool,
    /// The list of prompts.
    pub prompts: bool,
    /// The list of resources.
    pub resources: bool,
}

impl ListSubscriptions {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}
