//! What HTTP adds to the protocol: headers, event streams, sessions. Rules only, no sockets.
//!
//! Each piece answers one question and knows nothing of the others, so that a
//! server can put them in its order of admission and a client in its order of
//! reading:
//!
//! | question | piece |
//! |---|---|
//! | Whose session is it? | [`read_session`], [`ClientSession`] |
//! | Do the headers say what the body says? | [`header`] |
//! | What is in the stream? | [`sse`] |
//! | Where did the stream stop? | [`resume`] |

mod authority;
pub mod header;
pub mod resume;
mod session;
pub mod sse;

pub use header::Headers;
pub use session::{
    ClientSession, MAX_SESSION_ID, SessionId, SessionIdError, SessionRefusal, SessionUse,
    read_session,
};
