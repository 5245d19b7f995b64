//! Both stores in the memory of one process.
//!
//! What they keep is bounded, in all and for each account: [`quota`] counts.
//! There is no timer. Each write drops a few things that have expired, and as
//! many more as it needs room, so that all writes together cost what the
//! entries cost, and none of them waits for a sweep of everything.

mod journals;
mod quota;
mod states;

use std::time::Duration;

pub use journals::MemoryJournalStore;
pub use states::MemoryStateStore;

const MIB: usize = 1024 * 1024;

/// How many things that have expired a write drops even if it has room. More
/// than it adds, so that they become fewer.
const MAX_SWEPT_PER_WRITE: usize = 4;

/// In place of any time that is longer. A point in time has an end of its own
/// on some systems, and this is before it.
const MAX_TTL: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
