//! What something is kept under.

/// Names a journal or a state, and whom it is kept for. See the
/// [module](super) for which characters there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ConversationKey<'a> {
    /// No two journals have the same, and no two states.
    pub id: &'a str,
    /// The caller that it is kept for; empty for callers without a name, all
    /// of whom have one account.
    pub account: &'a str,
}

impl<'a> ConversationKey<'a> {
    /// A key, for tests of stores.
    #[must_use]
    pub fn new(id: &'a str, account: &'a str) -> Self {
        Self { id, account }
    }
}
