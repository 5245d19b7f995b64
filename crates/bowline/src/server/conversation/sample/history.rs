//! What a conversation remembers of what was said to models, and by them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::proto::model::SamplingMessage;

/// What was said so far in a conversation, or in a branch of one.
#[derive(Debug, Default)]
pub(in crate::server::conversation) struct MessageHistory {
    messages: Mutex<Vec<SamplingMessage>>,
    pub(in crate::server::conversation) system: Option<String>,
    /// What had been said in the conversation that this is a branch of.
    pub(in crate::server::conversation) parent_messages: Vec<SamplingMessage>,
    pub(in crate::server::conversation) parent_system: Option<String>,
}

impl MessageHistory {
    /// Begins with these messages.
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
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
