//! The HTTP parts of the protocol: headers, event streams, sessions. Rules
//! only, no sockets.
//!
//! Each part answers one question and does not depend on the others, so servers
//! and clients can apply them in the order they need:
//!
//! | question | part |
//! |---|---|
//! | Where does a request end? | [`RequestFraming`] |
//! | May this page or host talk to us? | [`OriginPolicy`] |
//! | Can the two sides exchange bodies? | [`Accept`], [`is_json`], [`is_event_stream`] |
//! | Which session is it? | [`session_from_headers`], [`ClientSession`] |
//! | Do the headers match the body? | [`header`] |
//! | What is in the stream? | [`sse`] |
//! | Where did the stream stop? | [`resume`] |
//! | Which status does an error have? | [`status_for_error`] |
//! | What does a status mean, and which error does its body contain? | [`classify_status`], [`parse_error_body`] |

pub(crate) mod authority;
mod framing;
pub mod header;
mod media;
mod origin;
pub mod resume;
mod retry_after;
mod session;
pub mod sse;
mod status;

pub use framing::{FramingError, RequestFraming};
pub use header::Headers;
pub use media::{Accept, is_event_stream, is_json};
pub use origin::{OriginError, OriginPolicy, OriginPolicyError};
pub use retry_after::{MAX_RETRY_AFTER, parse_retry_after};
pub use session::{
    ClientSession, MAX_SESSION_ID_LEN, RequestedSession, SessionError, SessionId, SessionIdError,
    session_from_headers,
};
pub(crate) use status::suggests_legacy_sse;
pub use status::{StatusClass, classify_status, parse_error_body, status_for_error};
