//! How much the stores hold.

const MIB: u64 = 1024 * 1024;

/// The limits of the stores of one prefix, for all nodes together. If one is reached,
/// nothing is dropped: writes fail until something expires.
///
/// ```
/// use bowline_redis::{Limit, StoreLimits};
///
/// let mut limits = StoreLimits::default();
/// limits.tasks = Limit::new(10_000, 64 * 1024 * 1024);
/// assert_eq!(limits.tasks.max_account_items, 1_250);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Journals: 1,048,576 of 1 GiB. Responses of conversations that have ended are kept
    /// in the first half of each limit, and left out beyond that.
    pub journals: Limit,
    /// Sealed states: 65,536 of 1 GiB.
    pub sealed_states: Limit,
    /// Tasks: 262,144 of 1 GiB.
    pub tasks: Limit,
    /// Sessions: 262,144 of 1 GiB.
    pub sessions: Limit,
    /// The bytes of all events: 1 GiB.
    pub max_event_bytes: u64,
    /// The events of one session: 4,096. Beyond that, the oldest are dropped.
    pub max_events_per_session: u64,
    /// The bytes of the events of one session: 4 MiB. Beyond that, the oldest are
    /// dropped.
    pub max_event_bytes_per_session: u64,
    /// Used DPoP proofs: 1,048,576. One caller may use an eighth of the free places.
    pub max_used_proofs: u64,
    /// Revoked tokens: 131,072.
    pub max_revoked_tokens: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            journals: Limit::new(1_048_576, 1024 * MIB),
            sealed_states: Limit::new(65_536, 1024 * MIB),
            tasks: Limit::new(262_144, 1024 * MIB),
            sessions: Limit::new(262_144, 1024 * MIB),
            max_event_bytes: 1024 * MIB,
            max_events_per_session: 4096,
            max_event_bytes_per_session: 4 * MIB,
            max_used_proofs: 1_048_576,
            max_revoked_tokens: 131_072,
        }
    }
}

/// The limits of one kind of item. Bytes are those of ids and values; Redis itself needs
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The number of items of all callers.
    pub max_items: u64,
    /// The bytes of all callers.
    pub max_bytes: u64,
    /// The number of items of one caller.
    pub max_account_items: u64,
    /// The bytes of one caller.
    pub max_account_bytes: u64,
}

impl Limit {
    /// Creates a limit of which one caller may use an eighth.
    #[must_use]
    pub const fn new(max_items: u64, max_bytes: u64) -> Self {
        Self {
            max_items,
            max_bytes,
            max_account_items: max_items.div_ceil(8),
            max_account_bytes: max_bytes.div_ceil(8),
        }
    }

    /// Sets how much one caller may use.
    #[must_use]
    pub const fn per_account(mut self, max_items: u64, max_bytes: u64) -> Self {
        self.max_account_items = max_items;
        self.max_account_bytes = max_bytes;
        self
    }

    /// Returns what this account may use. Callers without a principal share an account,
    /// which may use half, but never all of it.
    pub(crate) fn of_account(&self, account: &str) -> [u64; 2] {
        match account.is_empty() {
            true => [self.max_items.div_ceil(2), self.max_bytes.div_ceil(2)],
            false => [self.max_account_items, self.max_account_bytes],
        }
    }
}
