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
pub(super) enum QuotaExceeded {
    /// The account has as much as it may.
    Account,
    /// All have, together.
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

    /// Whether there is room for `new` in place of `old`. What takes no more
    /// room than before always has it.
    pub(super) fn check(
        &self,
        account: &str,
        old: Amount,
        new: Amount,
    ) -> Result<(), QuotaExceeded> {
        if new.entries <= old.entries && new.bytes <= old.bytes {
            return Ok(());
        }
        let used_by_account = self.by_account.get(account).copied().unwrap_or_default();
        if !used_by_account
            .minus(old)
            .plus(new)
            .fits_in(self.account_limit(account))
        {
            return Err(QuotaExceeded::Account);
        }
        if !self.used.minus(old).plus(new).fits_in(self.max) {
            return Err(QuotaExceeded::Total);
        }
        Ok(())
    }

    /// Whether the account may have this at all.
    pub(super) fn allows(&self, account: &str, new: Amount) -> bool {
        new.fits_in(self.account_limit(account))
    }

    /// What one account may have. Callers without a name share one, which may
    /// have more; but never all, so that they shut nobody out who has a name.
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

impl From<QuotaExceeded> for StoreError {
    fn from(exceeded: QuotaExceeded) -> Self {
        Self::new(match exceeded {
            QuotaExceeded::Account => "this caller has its share of the store in memory in use",
            QuotaExceeded::Total => "the store in memory is full of what has not expired",
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
