//! Nodes, and who holds what.

use std::fmt;

/// The number of nodes.
pub const NODES: usize = 3;

/// A node: a process of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u8);

impl Node {
    /// Returns the index of the node.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Iterates over the first nodes.
    pub fn first(count: usize) -> impl Iterator<Item = Self> {
        [Self(0), Self(1), Self(2)].into_iter().take(count)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0 + 1)
    }
}

/// The holder of a lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Nobody.
    #[default]
    None,
    /// A process that has died, or a round that is gone.
    Gone,
    /// A node.
    Node(Node),
}

impl Holder {
    /// Replaces a node that died.
    pub fn bury(&mut self, node: Node) {
        if *self == Self::Node(node) {
            *self = Self::Gone;
        }
    }

    /// Renames nodes: the node at each place of `order` gets the number of the place.
    #[must_use]
    pub fn renamed(self, order: &[Node; NODES]) -> Self {
        match self {
            Self::Node(node) => {
                let place = order.iter().position(|it| *it == node);
                Self::Node(Node(place.unwrap_or_default() as u8))
            }
            other => other,
        }
    }
}

/// To whom a lease gives the right to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// To the process whose name is on it, whatever it began before.
    Process,
    /// To the work for which it was taken.
    Run,
}

/// Returns the nodes in the order of a key.
pub fn sorted_by<K: Ord>(key: impl Fn(Node) -> K) -> [Node; NODES] {
    let mut order = [Node(0), Node(1), Node(2)];
    order.sort_by_key(|node| key(*node));
    order
}
