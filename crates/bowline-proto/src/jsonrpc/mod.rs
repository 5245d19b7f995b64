//! JSON-RPC 2.0 as MCP uses it: ids, the envelope scan, framing, encoding.
//!
//! The way in: a [`LineFramer`] cuts frames out of a byte stream, [`split`]
//! takes batches apart, [`scan`] finds the parts of one message without
//! decoding them, and [`decode()`] turns a part into the type that the method or
//! the pending call expects; [`decode_plain`] does so faster, if it can. The way
//! out: a [`Draft`] for what we ask, [`response`] and [`error_response`] for what
//! we answer.

mod batch;
mod block;
pub mod code;
mod compact;
mod decode;
mod encode;
mod envelope;
mod error;
mod escape;
mod frame;
mod id;
mod member;
mod members;
mod part;
mod place;
mod raw;
mod read;
mod salvage;
mod scan_error;
mod skip;
mod text;
mod unescape;
mod walk;
mod write;

pub use batch::{Messages, split};
pub(crate) use compact::Compact;
pub(crate) use decode::unplaced;
pub use decode::{DecodeError, decode, decode_params};
pub(crate) use encode::response_with;
pub use encode::{Draft, EncodeError, Encoded, error_response, response, response_raw};
pub(crate) use envelope::scan_with;
pub use envelope::{Envelope, scan};
pub use error::ErrorObject;
pub use frame::{LineFramer, Oversize};
pub use id::RequestId;
pub(crate) use member::{Member, find_member};
pub(crate) use part::part_of;
pub use raw::RawJson;
pub use read::decode_plain;
pub use salvage::{Salvage, salvage};
pub use scan_error::{ScanError, ScanErrorKind};
pub use skip::closing_quote;
pub(crate) use walk::{Sight, Walk};
