//! A session of the handshake era: what both sides remember.

use std::{collections::BTreeSet, sync::Arc};

use super::Client;
use crate::{model::LogLevel, revision::Rules};

/// What was agreed on, and what the client has asked for since.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) rules: &'static Rules,
    pub(super) client: Arc<Client>,
    /// Whether the client ended the handshake. Before that it may only be
    /// pinged and sent log messages.
    pub(super) initialized: bool,
    /// From which severity on log messages are wanted.
    pub(super) log_level: LogLevel,
    /// The resources that the client watches.
    pub(super) watched: BTreeSet<Box<str>>,
}
