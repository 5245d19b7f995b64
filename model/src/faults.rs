//! What can go wrong, and how often.

use std::fmt;

/// How leases behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leases {
    /// A lease expires only if its holder is dead: no node stops for longer.
    Respected,
    /// A lease may expire at any time: a node may stop, and go on later.
    Expire,
    /// There are none, or nobody looks at them.
    Absent,
}

/// How many faults of each kind are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget {
    /// Nodes that die. They begin again at once, and remember nothing.
    pub crashes: u8,
    /// Requests to the store, or its replies, that are lost.
    pub lost_messages: u8,
}

/// What a store has written to disk, if it can forget the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durable<S> {
    /// It forgets nothing, or has forgotten something already.
    All,
    /// Everything so far. It may stop to keep what is written at any time.
    Undecided,
    /// This, and nothing later.
    Only(S),
}

impl<S> Durable<S> {
    /// Returns what a store begins with.
    #[must_use]
    pub fn new(forgets: bool) -> Self {
        match forgets {
            true => Self::Undecided,
            false => Self::All,
        }
    }
}

/// An action, and whether the store keeps what it wrote.
#[derive(Clone, Copy, Debug)]
pub struct Event<A> {
    /// The action.
    pub action: A,
    /// Whether this is the first write that the store is going to forget, with all
    /// later ones.
    pub is_unkept: bool,
}

impl<A: fmt::Display> fmt::Display for Event<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.action.fmt(f)?;
        match self.is_unkept {
            true => f.write_str(" (from here on, the store keeps nothing)"),
            false => Ok(()),
        }
    }
}

/// Adds the events for these actions: each as it is and, if it writes, with a store that
/// does not keep it.
pub fn add_events<A: Copy, S: Clone>(
    actions: Vec<(A, S)>,
    unkept: impl Fn(&S) -> Option<S>,
    next: &mut Vec<(Event<A>, S)>,
) {
    for (action, state) in actions {
        if let Some(state) = unkept(&state) {
            let is_unkept = true;
            next.push((Event { action, is_unkept }, state));
        }
        let is_unkept = false;
        next.push((Event { action, is_unkept }, state));
    }
}
