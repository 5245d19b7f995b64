//! `bowline.lock`: what servers offered when someone reviewed it.
//!
//! `file` reads and writes it, `collect` asks servers what they offer now, `changes`
//! shows what differs, and `observe` learns result shapes from recordings.

mod changes;
mod collect;
mod file;
mod observe;

pub(crate) use self::{
    changes::{ServerChanges, print_changes},
    collect::collect,
    file::{DEFAULT_FILE, LockFile},
    observe::observe_recording,
};
