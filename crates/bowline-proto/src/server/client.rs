//! What is known of the client.

use super::errors;
use crate::{
    jsonrpc::ErrorObject,
    model::{ClientCapabilities, Implementation},
};

/// The client at the other end, as it described itself: in the handshake, or
/// with each request. Display its name; do not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// What it can do for us.
    pub capabilities: ClientCapabilities,
    /// What it calls itself, if it said so.
    pub info: Option<Implementation>,
}

/// About how many bytes what a client says of itself may take. It is kept as
/// long as a session or a stream.
const MOST_KEPT: usize = 64 * 1024;
/// About how much a member takes besides its text: its place in a list, which
/// has room for as many again, and two texts of their own.
const PER_MEMBER: usize = 128;

/// About how many bytes this takes once it is read. A member of a few bytes
/// takes many times as much.
///
/// # Errors
///
/// Where that is too much.
pub(super) fn weigh(said: &[&[u8]]) -> Result<usize, ErrorObject> {
    let weigh = |text: &&[u8]| text.len() + PER_MEMBER * memchr::memchr_iter(b',', text).count();
    let bytes = said.iter().map(weigh).sum();
    if bytes > MOST_KEPT {
        let what = "the client says too much of itself, or in too many members";
        let why = format!("{what}: it takes {bytes} bytes, and may take {MOST_KEPT}");
        return Err(errors::invalid_request(&why));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_members_weigh_more_than_one_that_is_long() {
        let long = format!(r#"{{"icon":"{}"}}"#, "x".repeat(60_000));
        assert_eq!(weigh(&[long.as_bytes()]).ok(), Some(long.len()));
        let many = format!("{{{}}}", vec![r#""a":0"#; 1000].join(","));
        assert!(many.len() < 10_000 && weigh(&[many.as_bytes()]).is_err());
    }
}
