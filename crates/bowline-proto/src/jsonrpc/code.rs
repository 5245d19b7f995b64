//! Error codes that mean something on the wire.
//!
//! Codes from -32000 to -32019 were used freely by older implementations; of
//! these only [`RESOURCE_NOT_FOUND`] has a meaning we read. Which code a
//! revision uses for what is a question for its rules, not for this list.

/// The frame is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method, or it stands behind a capability not advertised.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The peer failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// No such resource; up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// An HTTP header disagrees with the body; 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a client capability that it did not declare; 2026-07-28.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The protocol version is not supported; 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// The user must visit a URL first; 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// The user rejected a sampling request; handshake revisions only.
pub const USER_REJECTED: i64 = -1;
