//! The names of keys.
//!
//! All keys of a prefix have the same hash tag, so a cluster keeps them on one node and
//! a script can use several. No key contains a secret: ids of sessions and names of
//! callers are hashed.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Makes the names of keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The prefix as a hash tag.
    tag: String,
}

/// The kinds of items, each with its own quota.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Journal,
    State,
    Task,
    Session,
    Events,
    Proof,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Journal => 'j',
            Self::State => 's',
            Self::Task => 't',
            Self::Session => 'h',
            Self::Events => 'e',
            Self::Proof => 'p',
        }
    }
}

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        let tag = format!("{{{prefix}}}");
        Self { tag }
    }

    /// Returns the key of the generation of the data.
    pub(crate) fn generation(&self) -> String {
        format!("{}:generation", self.tag)
    }

    /// Returns the key of an item.
    pub(crate) fn item(&self, kind: Kind, id: &str) -> String {
        format!("{}:{}:{id}", self.tag, kind.letter())
    }

    /// Returns the prefix of all items of a kind.
    pub(crate) fn items(&self, kind: Kind) -> String {
        self.item(kind, "")
    }

    /// Returns the key of the ids by expiry.
    pub(crate) fn expiries(&self, kind: Kind) -> String {
        self.index(kind, "expiries")
    }

    /// Returns the keys of a script with quotas: the generation, the three indexes, and
    /// the item.
    pub(crate) fn with_quota(&self, kind: Kind, id: &str) -> Vec<String> {
        vec![
            self.generation(),
            self.expiries(kind),
            self.index(kind, "sizes"),
            self.index(kind, "usage"),
            self.item(kind, id),
        ]
    }

    /// Returns the key of the ids of leased tasks, by the end of the lease.
    pub(crate) fn task_leases(&self) -> String {
        self.index(Kind::Task, "leases")
    }

    /// Returns the key of the ids of an account's tasks, or its prefix.
    pub(crate) fn task_ids(&self, account: &str) -> String {
        format!("{}:tasks-of:{account}", self.tag)
    }

    /// Returns the keys of revoked tokens: by expiry, and by position.
    pub(crate) fn revoked_tokens(&self) -> [String; 2] {
        ["expiries", "positions"].map(|what| format!("{}:revoked-{what}", self.tag))
    }

    /// Returns the key of a node.
    pub(crate) fn node(&self, node: &str) -> String {
        format!("{}:node:{node}", self.tag)
    }

    /// Returns the channel of changes.
    pub(crate) fn changes(&self) -> String {
        format!("{}:changes", self.tag)
    }

    fn index(&self, kind: Kind, what: &str) -> String {
        format!("{}:{}-{what}", self.tag, kind.letter())
    }
}

/// Returns a hash of a text that is not to appear in keys, in hexadecimal.
pub(crate) fn hashed(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in digest {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
