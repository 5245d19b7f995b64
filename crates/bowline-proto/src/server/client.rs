//! What is known of the client.

use crate::model::{ClientCapabilities, Implementation};

/// The client at the other end, as it described itself: in the handshake, or
/// with each request. Display its name; do not trust it.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// What it can do for us.
    pub capabilities: ClientCapabilities,
    /// What it calls itself, if it said so.
    pub info: Option<Implementation>,
}
