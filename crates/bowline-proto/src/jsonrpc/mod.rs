//! JSON-RPC 2.0 as MCP uses it: ids, the envelope scan, framing, encoding.

mod batch;
pub mod code;
mod decode;
mod envelope;
mod error;
mod frame;
mod id;
mod members;
mod raw;
mod salvage;
mod scan_error;
mod skip;

pub use batch::{Messages, split};
pub use decode::{DecodeError, decode};
pub use envelope::{Envelope, scan};
pub use error::ErrorObject;
pub use frame::{LineFramer, Oversize};
pub use id::RequestId;
pub use raw::RawJson;
pub use salvage::{Salvage, salvage};
pub use scan_error::{ScanError, ScanErrorKind};
