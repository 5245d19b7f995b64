//! Quotas of the in-memory stores.

use std::{collections::HashMap, fmt};

use super::super::StoreError;

/// The usage and limits of the store and of each account.
pub(super) struct Quota {
    max: Amount,
    used: Amount,
    by_account: HashMap<Box<str>, Amount>,
}

/// A number of items and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// Why a value does not fit: the quota that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreFull {
    /// The account's.
    Account,
    /// The total.
    Total,
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

    /// Checks that `new` fits in place of `old`. It always does if it is not
    /// larger.
    pub(super) fn check(&self, account: &str, old: Amount, new: Amount) -> Result<(), StoreFull> {
        if new.entries <= old.entries && new.bytes <= old.bytes {
            return Ok(());
        }
        let used_by_account = self.by_account.get(account).copied().unwrap_or_default();
        if !used_by_account
            .minus(old)
            .plus(new)
            .fits_in(self.account_limit(account))
        {
            return Err(StoreFull::Account);
        }
        if !self.used.minus(old).plus(new).fits_in(self.max) {
            return Err(StoreFull::Total);
        }
        Ok(())
    }

    /// Returns whether the account may hold this at all.
    pub(super) fn allows(&self, account: &str, new: Amount) -> bool {
        new.fits_in(self.account_limit(account))
    }

    /// Returns the limit of an account. Callers without a principal share one
    /// with a larger limit, but never all of it, so they cannot shut out the
    /// others.
    fn account_limit(&self, account: &str) -> Amount {
        let divisor = if account.is_empty() { 2 } else { 8 };
        Amount {
            entries: self.max.entries.div_ceil(divisor),
            bytes: self.max.bytes.div_ceil(divisor),
        }
    }

    /// Counts `new` in place of `old`.
    pub(super) fn replace(&mut self, account: &str, old: Amount, new: Amount) {
        self.used = self.used.minus(old).plus(new);
        let used_by_account = match self.by_account.get_mut(account) {
            Some(used_by_account) => used_by_account,
            None => self.by_account.entry(account.into()).or_default(),
        };
        *used_by_account = used_by_account.minus(old).plus(new);
        if *used_by_account == Amount::default() {
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

    fn plus(self, more: Self) -> Self {
        Self {
            entries: self.entries.saturating_add(more.entries),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    fn minus(self, less: Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(less.entries),
            bytes: self.bytes.saturating_sub(less.bytes),
        }
    }

    fn fits_in(self, max: Self) -> bool {
        self.entries <= max.entries && self.bytes <= max.bytes
    }
}

impl From<StoreFull> for StoreError {
    fn from(exceeded: StoreFull) -> Self {
        Self::new(match exceeded {
            StoreFull::Account => "the in-memory store is full: this caller has reached its quota",
            StoreFull::Total => "the in-memory store is full: no entry has expired",
        })
    }
}

/// Shows the usage.
impl fmt::Debug for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quota")
            .field("used", &self.used)
            .field("max", &self.max)
            .field("accounts", &self.by_account.len())
            .finish()
    }
}
