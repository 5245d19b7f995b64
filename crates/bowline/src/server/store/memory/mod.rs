//! In-memory stores for a single process.
//!
//! They are bounded, in total and per account; see [`quota`]. There is no
//! timer. Each write drops a few expired items, and as many more as it needs
//! room for. So the cost of expiry is spread over the writes, and no write
//! waits for a full sweep.

mod expiry_index;
mod journals;
mod quota;
mod states;
mod tasks;

pub use journals::MemoryJournalStore;
pub use states::MemorySealedStateStore;
pub use tasks::MemoryTaskStore;

const MIB: usize = 1024 * 1024;

/// How many expired items a write drops even if there is room. More than it
/// adds, so they become fewer.
const MAX_SWEPT_PER_WRITE: usize = 4;
