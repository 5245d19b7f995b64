//! JSON-RPC 2.0 as MCP uses it: ids, the envelope scan, framing, encoding.

pub mod code;
mod decode;
mod error;
mod id;
mod raw;

pub use decode::{DecodeError, decode};
pub use error::ErrorObject;
pub use id::RequestId;
pub use raw::RawJson;
