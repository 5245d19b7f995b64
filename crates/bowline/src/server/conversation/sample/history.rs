//! The sampling messages of a conversation.

use std::sync::{Mutex, MutexGuard};

use crate::{proto::model::SamplingMessage, sync};

/// The messages exchanged with models so far in a conversation or a branch.
#[derive(Debug, Default)]
pub(in crate::server::conversation) struct MessageHistory {
    messages: Mutex<Vec<SamplingMessage>>,
    pub(in crate::server::conversation) system: Option<String>,
    /// The messages of the parent conversation when this branch began.
    pub(in crate::server::conversation) parent_messages: Vec<SamplingMessage>,
    pub(in crate::server::conversation) parent_system: Option<String>,
}

impl MessageHistory {
    /// Creates a history with these messages.
    pub(in crate::server::conversation) fn from_messages(messages: Vec<SamplingMessage>) -> Self {
        Self {
            messages: Mutex::new(messages),
            ..Self::default()
        }
    }

    pub(in crate::server::conversation) fn messages(&self) -> Vec<SamplingMessage> {
        self.lock().clone()
    }

    pub(super) fn extend(&self, messages: &[SamplingMessage]) {
        self.lock().extend_from_slice(messages);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SamplingMessage>> {
        sync::lock(&self.messages)
    }
}
