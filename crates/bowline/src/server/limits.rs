//! Limits of one call.

use std::time::Duration;

/// The limits of one call. Exceeding one is an error that the handler can see,
/// except for `timeout`, which drops the handler and fails the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallLimits {
    /// How long a call may take in total, including the time for its answers.
    /// No limit by default.
    pub timeout: Option<Duration>,
    /// The maximum number of questions. The default is 100.
    pub max_questions: u32,
    /// The maximum number of input and output tokens of models, estimated at
    /// four characters each, and at 1,000 tokens for an image or a sound. No
    /// limit by default. A question that would exceed it is not asked.
    pub max_tokens: Option<u64>,
    /// The maximum depth of nested branches. The default is 8.
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
    /// Creates the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a call may take in total.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of questions.
    #[must_use]
    pub fn max_questions(mut self, questions: u32) -> Self {
        self.max_questions = questions;
        self
    }

    /// Sets the maximum number of tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the maximum depth of nested branches.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }
}
