//! How much a tool may do.

use std::time::Duration;

/// How much a tool may do in one call. What goes over a limit fails with an
/// error that the tool can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallLimits {
    /// How long a call may take in all, the time for its answers included; no
    /// limit unless given.
    pub timeout: Option<Duration>,
    /// How many questions it may ask: 100.
    pub max_questions: u32,
    /// How many tokens models may be given and may write, estimated at four
    /// characters each, and at 1,000 for a picture or a sound; no limit unless
    /// given. What would go over it is not asked.
    pub max_tokens: Option<u64>,
    /// How deep branches may be: 8.
    pub max_depth: u32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            timeout: None,
            max_questions: 100,
            max_tokens: None,
            max_depth: 8,
        }
    }
}

impl CallLimits {
    /// The limits that hold where nothing else is said.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a limit on how long a call may take in all.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// With another limit on questions.
    #[must_use]
    pub fn max_questions(mut self, questions: u32) -> Self {
        self.max_questions = questions;
        self
    }

    /// With a limit on tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// With another limit on branches within branches.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }
}
