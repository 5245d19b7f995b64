//! Resumption of broken event streams, for revisions that have it.
//!
//! A server gives every event an [`EventId`] and keeps the last ones in an
//! [`EventBuffer`]. A client keeps a [`Resumption`] per stream, which decides
//! whether, when and where to resume. Resuming always uses GET, even if the
//! stream began as the response to a POST, and never repeats the POST.

mod client;
mod event_buffer;
mod event_id;

pub use client::{ResumeAction, ResumeError, Resumption, ResumptionPolicy};
pub use event_buffer::{EventBuffer, EventBufferLimits, ReplayError, StreamId};
pub use event_id::EventId;
