//! What is known of the client.

use super::errors;
use crate::{
    jsonrpc::ErrorObject,
    model::{ClientCapabilities, Implementation},
};

/// The client at the other end, as it described itself: in the handshake, or
/// with each request. Display its name; do not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientInfo {
    /// What it can do for us.
    pub capabilities: ClientCapabilities,
    /// What it calls itself, if it said so.
    pub info: Option<Implementation>,
}

/// About how many bytes what a client says of itself may take. It is kept as
/// long as a session or a stream.
const MAX_CLIENT_INFO_BYTES: usize = 64 * 1024;
/// About how much a member takes besides its text: its place in a list, which
/// has room for as many again, and two texts of their own.
const MEMBER_OVERHEAD: usize = 128;

/// About how many bytes this takes once it is read. A member of a few bytes
/// takes many times as much.
///
/// # Errors
///
/// Where that is too much.
pub(super) fn check_size(members: &[&[u8]]) -> Result<usize, ErrorObject> {
    let size =
        |json: &&[u8]| json.len() + MEMBER_OVERHEAD * memchr::memchr_iter(b',', json).count();
    let bytes = members.iter().map(size).sum();
    if bytes > MAX_CLIENT_INFO_BYTES {
        let what = "the client says too much of itself, or in too many members";
        let message =
            format!("{what}: it takes {bytes} bytes, and may take {MAX_CLIENT_INFO_BYTES}");
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
