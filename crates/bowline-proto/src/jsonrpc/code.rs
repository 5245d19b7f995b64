//! JSON-RPC error codes with a defined meaning.
//!
//! Older implementations used codes from -32000 to -32019 freely; of these,
//! only [`RESOURCE_NOT_FOUND`] has a meaning for us. Which code a revision uses
//! for what is decided by its rules, not by this list.

/// The frame is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist, or needs a capability that was not declared.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are invalid for the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The peer failed internally.
pub const INTERNAL_ERROR: i64 = -32603;
/// The resource does not exist; up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// An HTTP header does not match the body; 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a capability that the client did not declare; 2026-07-28.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The protocol version is not supported; 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// The user must visit a URL first; 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// The user rejected a sampling request; handshake revisions only.
pub const USER_REJECTED: i64 = -1;
