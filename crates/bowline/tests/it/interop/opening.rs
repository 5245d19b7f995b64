//! Opening against servers that start slower than the probe waits.

use std::time::Duration;

use bowline::{client::ClientBuilder, proto::client::Timeouts, proto::revision::Revision};
use serde_json::json;

use super::rig::{Checked, Peer, builder, node, script, within};

/// A builder that takes no server for one without a handshake in time: none
/// starts so fast that the probe is answered before the handshake is tried.
fn hasty() -> ClientBuilder {
    let mut timeouts = Timeouts::standard();
    timeouts.connect = Duration::from_secs(120);
    timeouts.probe = Duration::from_millis(1);
    builder().timeouts(timeouts)
}

#[tokio::test]
async fn a_late_answer_to_the_probe_still_counts() -> Checked {
    within(async {
        let peer = Peer::open(hasty(), script("highlevel_server.py")?).await?;
        assert_eq!(peer.frames.sent("initialize").len(), 1);
        assert_eq!(peer.revision(), Some(Revision::V2026_07_28));
        assert_eq!(peer.health().sessions, 1);
        let sum = peer.value("add", json!({"a": 1, "b": 2})).await?;
        assert_eq!(sum["total"], 3);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_late_refusal_of_the_probe_does_not_matter() -> Checked {
    within(async {
        let peer = Peer::open(hasty(), node("mcp-server-everything")?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2025_11_25));
        assert_eq!(peer.frames.sent("initialize").len(), 1);
        let text = peer.text("echo", json!({"message": "late"})).await?;
        assert_eq!(text, "Echo: late");
        peer.close().await
    })
    .await
}
