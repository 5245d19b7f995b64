//! What the server knows about the client.

use super::errors;
use crate::{
    jsonrpc::ErrorObject,
    model::{ClientCapabilities, Implementation},
};

/// The client at the other end as it describes itself, in the handshake or with
/// each request. Display its name, but do not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientInfo {
    /// The capabilities the client declares.
    pub capabilities: ClientCapabilities,
    /// The client's name and version, if it sent them.
    pub info: Option<Implementation>,
}

/// The limit for a client's description of itself, in bytes (approximate). It
/// is kept as long as a session or a stream.
const MAX_CLIENT_INFO_BYTES: usize = 64 * 1024;
/// The approximate overhead of a member besides its text: its slot in a list,
/// which has spare capacity for as many again, and two strings.
const MEMBER_OVERHEAD: usize = 128;

/// Estimates how many bytes these members take once decoded. A member of a few
/// bytes takes many times its size.
///
/// # Errors
///
/// Returns an error if the estimate exceeds the limit.
pub(super) fn check_size(members: &[&[u8]]) -> Result<usize, ErrorObject> {
    let size =
        |json: &&[u8]| json.len() + MEMBER_OVERHEAD * memchr::memchr_iter(b',', json).count();
    let bytes = members.iter().map(size).sum();
    if bytes > MAX_CLIENT_INFO_BYTES {
        let what =
            "the client's capabilities and clientInfo are too large, or have too many members";
        let message = format!("{what}: about {bytes} bytes, limit {MAX_CLIENT_INFO_BYTES}");
        return Err(errors::invalid_request(&message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_members_weigh_more_than_one_that_is_long() {
        let long = format!(r#"{{"icon":"{}"}}"#, "x".repeat(60_000));
        assert_eq!(check_size(&[long.as_bytes()]).ok(), Some(long.len()));
        let many = format!("{{{}}}", vec![r#""a":0"#; 1000].join(","));
        assert!(many.len() < 10_000 && check_size(&[many.as_bytes()]).is_err());
    }
}
