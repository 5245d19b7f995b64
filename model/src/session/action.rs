//! The actions of the model of sessions.

use std::fmt;

use super::CallPhase;
use crate::node::Node;

/// An action of the model.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// A node that believes to own a session accepts a call.
    Accept(Node, usize, usize),
    /// A node forwards a call to the owner.
    Forward(Node, usize, usize, Node),
    /// A node gets a forwarded call of a session that it does not have.
    Decline(Node, usize),
    /// A forwarded call is lost.
    LoseForwarded(usize),
    /// A node takes a session up.
    TakeUp(Node, usize),
    /// A node renews its lease, or finds out that it lost it.
    Renew(Node, usize),
    /// A node writes what it does with a call, which the store accepts or not.
    Write(Node, CallPhase, usize, usize, bool),
    /// A node writes what it does with a call, and the reply is lost.
    LoseReply(Node, CallPhase, usize, usize),
    /// A call runs.
    Perform(Node, usize, usize),
    /// A lease expires.
    Expire(usize),
    /// A node dies.
    Crash(Node),
    /// The store forgets.
    Forget,
}

impl Action {
    pub(super) fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::LoseForwarded(_) | Self::LoseReply(..) | Self::Crash(_) | Self::Forget
        )
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = |session: &usize| ['A', 'B'][*session];
        let name =
            |it: &usize, call: &usize| format!("call {} of session {}", call + 1, session(it));
        match self {
            Self::Accept(node, it, call) => write!(f, "{node}: accept {}", name(it, call)),
            Self::Forward(node, it, call, to) => {
                write!(f, "{node}: forward {} to {to}", name(it, call))
            }
            Self::Decline(node, it) => {
                write!(
                    f,
                    "{node}: decline a forwarded call of session {}",
                    session(it)
                )
            }
            Self::LoseForwarded(it) => {
                write!(f, "a forwarded call of session {} is lost", session(it))
            }
            Self::TakeUp(node, it) => write!(f, "{node}: take session {} up", session(it)),
            Self::Renew(node, it) => write!(f, "{node}: renew session {}", session(it)),
            Self::Write(node, phase, it, call, is_accepted) => {
                let accepted = if *is_accepted { "written" } else { "refused" };
                write!(
                    f,
                    "{node}: write that {} {phase}: {accepted}",
                    name(it, call)
                )
            }
            Self::LoseReply(node, phase, it, call) => {
                let lost = "written, but the reply is lost";
                write!(f, "{node}: write that {} {phase}: {lost}", name(it, call))
            }
            Self::Perform(node, it, call) => {
                write!(f, "{node}: {} HAS ITS EFFECT", name(it, call))
            }
            Self::Expire(it) => write!(f, "the lease of session {} expires", session(it)),
            Self::Crash(node) => write!(f, "{node} dies"),
            Self::Forget => f.write_str("the store forgets what it did not keep"),
        }
    }
}

impl fmt::Display for CallPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begins => "begins",
            Self::Granted | Self::Performed => "has a result",
            Self::Abandons => "is lost",
        })
    }
}
