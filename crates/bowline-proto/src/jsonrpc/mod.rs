//! JSON-RPC 2.0 as MCP uses it: ids, the envelope scan, framing, encoding.
//!
//! Incoming: a [`LineFramer`] splits a byte stream into frames, [`split_batch`]
//! splits batches, [`scan`] finds the parts of one message without decoding
//! them, and [`decode()`] decodes a part into the type that the method or the
//! pending call expects; [`decode_fast`] is faster, if it can. Outgoing: an
//! [`OutgoingMessage`] for requests and notifications, [`response`] and
//! [`error_response`] for responses.

mod batch;
pub mod code;
mod decode;
mod encode;
mod envelope;
mod error;
mod error_path;
mod fast;
mod find_member;
mod frame;
mod id;
mod member_scanner;
mod partial_envelope;
mod raw;
mod scan_error;
mod skip;
mod slice;

pub use batch::{Messages, split_batch};
pub(crate) use decode::message_without_position;
pub use decode::{DecodeError, decode, decode_params};
pub(crate) use encode::response_with_member;
pub use encode::{
    EncodeError, EncodedRequest, OutgoingMessage, error_response, response, response_raw,
};
pub(crate) use envelope::scan_visiting;
pub use envelope::{Envelope, scan};
pub use error::ErrorObject;
pub use fast::decode_fast;
pub(crate) use fast::{CompactReader, MemberVisitor, ObjectWalker};
pub(crate) use find_member::{Member, find_member};
pub use frame::{LineFramer, OversizedFrame};
pub use id::RequestId;
pub use partial_envelope::{PartialEnvelope, scan_partial};
pub use raw::RawJson;
pub use scan_error::{ScanError, ScanErrorKind};
pub use skip::closing_quote;
pub use slice::range_of;
pub(crate) use slice::slice_or_copy;
