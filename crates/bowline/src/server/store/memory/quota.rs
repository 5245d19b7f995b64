//! How much is kept, and for whom.

use std::{collections::HashMap, fmt};

use super::super::StoreError;

/// What is kept, against what may be kept: by all together, and by one account.
pub(super) struct Quota {
    max: Amount,
    used: Amount,
    by_account: HashMap<Box<str>, Amount>,
}

/// So many things, with so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The account has as much as it may.
    Account,
    /// All have, together.
    All,
}

impl Quota {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        let max = Amount {
            entries: max_entries,
            bytes: max_bytes,
        };
        Self {
            max,
            used: Amount::default(),
            by_account: HashMap::new(),
        }
    }

    /// Whether there is room for `new` in place of `old`. What takes no more
    /// room than before always has it.
    pub(super) fn check(&self, account: &str, old: Amount, new: Amount) -> Result<(), Full> {
        if new.entries <= old.entries && new.bytes <= old.bytes {
            return Ok(());
        }
        let own = self.by_account.get(account).copied().unwrap_or_default();
        if !own.without(old).with(new).fits(self.share(account)) {
            return Err(Full::Account);
        }
        if !self.used.without(old).with(new).fits(self.max) {
            return Err(Full::All);
        }
        Ok(())
    }

    /// Whether the account may have this at all.
    pub(super) fn allows(&self, account: &str, new: Amount) -> bool {
        new.fits(self.share(account))
    }

    /// What one account may have. Callers without a name share one, which may
    /// have more; but never all, so that they shut nobody out who has a name.
    fn share(&self, account: &str) -> Amount {
        let parts = if account.is_empty() { 2 } else { 8 };
        Amount {
            entries: self.max.entries.div_ceil(parts),
            bytes: self.max.bytes.div_ceil(parts),
        }
    }

    /// Counts `new` in place of `old`.
    pub(super) fn replace(&mut self, account: &str, old: Amount, new: Amount) {
        self.used = self.used.without(old).with(new);
        let own = match self.by_account.get_mut(account) {
            Some(own) => own,
            None => self.by_account.entry(account.into()).or_default(),
        };
        *own = own.without(old).with(new);
        if *own == Amount::default() {
            self.by_account.remove(account);
        }
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> Amount {
        self.used
    }
}

impl Amount {
    pub(super) const NONE: Self = Self {
        entries: 0,
        bytes: 0,
    };

    pub(super) fn one(bytes: usize) -> Self {
        Self { entries: 1, bytes }
    }

    fn with(self, more: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(more.entries),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    fn without(self, less: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(less.entries),
            bytes: self.bytes.saturating_sub(less.bytes),
        }
    }

    fn fits(self, max: Self) -> bool {
        self.entries <= max.entries && self.bytes <= max.bytes
    }
}

impl From<Full> for StoreError {
    fn from(full: Full) -> Self {
        Self::new(match full {
            Full::Account => "this caller has its share of the store in memory in use",
            Full::All => "the store in memory is full of what has not expired",
        })
    }
}

/// Shows how full it is.
impl fmt::Debug for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quota")
            .field("used", &self.used)
            .field("max", &self.max)
            .field("accounts", &self.by_account.len())
            .finish()
    }
}
