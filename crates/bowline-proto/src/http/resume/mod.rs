//! Event streams that break and are taken up again, on revisions that allow it.
//!
//! A server gives every event an [`EventId`] and keeps the last ones in a
//! [`Replay`]. A client keeps a [`Resumption`] per stream, which knows whether,
//! when and where to take it up. It is always taken up by GET, even if the
//! stream began as the answer to a POST, and never by repeating the POST.

mod client;
mod event_buffer;
mod event_id;

pub use client::{ResumeAction, ResumeError, Resumption, ResumptionPolicy};
pub use event_buffer::{EventBuffer, EventBufferLimits, ReplayError, StreamId};
pub use event_id::EventId;
