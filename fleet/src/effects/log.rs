//! What the effects process writes down.

use serde::{Deserialize, Serialize};

/// Something that a step of a tool does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The name that the client gave the call.
    pub conversation: String,
    /// The id that the server gave the conversation: a call that is sent twice begins two.
    pub course: String,
    /// The step.
    pub step: String,
    /// The key of the step, as the service behind it would receive it.
    pub key: String,
    /// The answers that led to it.
    pub answers: Vec<String>,
    /// The node that does it.
    pub node: String,
    /// The process of the node.
    pub process: u32,
}

/// A line of the log, in the order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LogLine {
    /// It happened.
    Happened {
        /// The number of the effect, which reports name.
        id: u64,
        /// What happened.
        effect: Effect,
    },
    /// It arrived after its key had been settled as "has not happened", and was rejected.
    Rejected {
        /// What did not happen.
        effect: Effect,
    },
}

/// What a node asks the effects process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Do it.
    Perform(Effect),
    /// Has the step with this key happened? If not, it never will.
    Settle(String),
}

/// The answer: the number of the effect, or `None` if it has not happened.
pub(crate) type Response = Option<u64>;
