//! The desired state: what the host wants restored after every reconnection.

use std::collections::BTreeSet;

use crate::model::{LogLevel, method};

/// Settings and subscriptions that outlive a session.
#[derive(Debug, Default)]
pub(super) struct DesiredState {
    /// Resources whose changes are wanted.
    pub(super) uris: BTreeSet<Box<str>>,
    /// Lists whose changes are wanted.
    pub(super) lists: ListSubscriptions,
    /// Tasks whose changes are wanted, where that is a subscription.
    pub(super) tasks: BTreeSet<Box<str>>,
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

    /// Records a change that the server has accepted.
    pub(super) fn apply(&mut self, change: DesiredChange) {
        match change {
            DesiredChange::Subscribe(uri) => {
                self.uris.insert(uri);
            }
            DesiredChange::Unsubscribe(uri) => {
                self.uris.remove(&uri);
            }
            DesiredChange::SetLevel(level) => self.log_level = Some(level),
        }
    }
}

/// A change of the desired state. How it is put on the wire depends on the era, which
/// is unknown until the session is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DesiredChange {
    Subscribe(Box<str>),
    Unsubscribe(Box<str>),
    SetLevel(LogLevel),
}

impl DesiredChange {
    /// Returns the method that represents this change in errors and telemetry.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Subscribe(_) => method::RESOURCES_SUBSCRIBE,
            Self::Unsubscribe(_) => method::RESOURCES_UNSUBSCRIBE,
            Self::SetLevel(_) => method::LOGGING_SET_LEVEL,
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
