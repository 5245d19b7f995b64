//! Store keys.

/// Identifies a journal or a state, and the caller it is stored for. See the
/// [module](super) for the characters allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ConversationKey<'a> {
    /// Unique among journals, and among states.
    pub id: &'a str,
    /// The caller it is stored for; empty for callers without a principal,
    /// which share one account.
    pub account: &'a str,
}

impl<'a> ConversationKey<'a> {
    /// Creates a key, for tests of stores.
    #[must_use]
    pub fn new(id: &'a str, account: &'a str) -> Self {
        Self { id, account }
    }
}
