//! The arguments of scripts with quotas, and times as scripts take them.

use std::time::Duration;

use crate::{limits::Limit, script::ScriptCall};

/// Replaces any longer duration, so that times stay exact numbers in scripts.
const MAX_TTL: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl ScriptCall<'_> {
    /// Adds an account and its limits.
    pub(super) fn limited(self, account: &str, limit: &Limit) -> Self {
        let [items, bytes] = limit.of_account(account);
        self.owned(account.to_owned())
            .number(items)
            .number(bytes)
            .number(limit.max_items)
            .number(limit.max_bytes)
    }

    /// Adds a time to live in milliseconds, rounded up and at least one.
    pub(super) fn ttl(self, ttl: Duration) -> Self {
        self.number(millis(ttl).max(1))
    }

    /// Adds the duration of a lease in milliseconds, which may be zero.
    pub(super) fn lease(self, duration: Duration) -> Self {
        self.number(millis(duration))
    }
}

fn millis(duration: Duration) -> u128 {
    duration.min(MAX_TTL).as_nanos().div_ceil(1_000_000)
}
