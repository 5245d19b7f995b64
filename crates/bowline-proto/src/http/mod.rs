//! What HTTP adds to the protocol: headers, event streams, sessions. Rules only, no sockets.
//!
//! Each piece answers one question and knows nothing of the others, so that a
//! server can put them in its order of admission and a client in its order of
//! reading:
//!
//! | question | piece |
//! |---|---|
//! | Where does a request end? | [`RequestFraming`] |
//! | May this page or host talk to us? | [`OriginPolicy`] |
//! | Can the two sides exchange bodies? | [`Accept`], [`is_json`], [`is_event_stream`] |
//! | Whose session is it? | [`read_session`], [`ClientSession`] |
//! | Do the headers say what the body says? | [`header`] |
//! | What is in the stream? | [`sse`] |
//! | Where did the stream stop? | [`resume`] |
//! | Which status does an error have, and what does a status mean? | [`status_of`], [`read_status`] |

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
pub use status::{ClassifiedStatus, StatusKind, classify_status, status_for_error};
