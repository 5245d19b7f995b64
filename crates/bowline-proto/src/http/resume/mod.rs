//! Event streams that break and are taken up again, on revisions that allow it.
//!
//! A server gives every event an [`EventId`] and keeps the last ones in a
//! [`Replay`]. A client keeps a [`Resumption`] per stream, which knows whether,
//! when and where to take it up. It is always taken up by GET, even if the
//! stream began as the answer to a POST, and never by repeating the POST.

mod client;
mod cursor;
mod replay;

pub use client::{LostStream, Resumption, ResumptionPolicy, StreamEnd};
pub use cursor::EventId;
pub use replay::{Replay, ReplayLimits, ReplayMiss, StreamId};
