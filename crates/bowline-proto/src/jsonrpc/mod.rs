//! JSON-RPC 2.0 as MCP uses it: ids, the envelope scan, framing, encoding.

pub mod code;
mod error;
mod id;
mod raw;

pub use error::ErrorObject;
pub use id::RequestId;
pub use raw::RawJson;
