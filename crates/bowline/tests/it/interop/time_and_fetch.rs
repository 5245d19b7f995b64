//! `mcp-server-time`, and the lists of `mcp-server-fetch`, in both eras.

use std::collections::BTreeMap;

use bowline::{
    client::ClientBuilder,
    proto::{Reason, revision::Revision},
};
use serde_json::{Value, json};

use super::rig::{Checked, Peer, builder, python, within};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn speaking(revision: Revision) -> ClientBuilder {
    builder().revisions([revision])
}

#[tokio::test]
async fn the_newest_revision_is_chosen() -> Checked {
    within(async {
        let peer = Peer::open(builder(), python("mcp-server-time")?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2026_07_28));
        assert!(peer.frames.sent("initialize").is_empty());
        assert!(peer.name().starts_with("mcp-time "), "{}", peer.name());
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn times_are_told_and_converted() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = Peer::open(speaking(revision), python("mcp-server-time")?).await?;
            assert_eq!(peer.revision(), Some(revision));
            assert_eq!(
                peer.tool_names().await?,
                ["get_current_time", "convert_time"]
            );
            let now = peer
                .value("get_current_time", json!({"timezone": "Asia/Tokyo"}))
                .await?;
            let datetime = now["datetime"].as_str().unwrap_or_default();
            assert!(datetime.ends_with("+09:00"), "{now}");
            let arguments = json!({
                "source_timezone": "Asia/Tokyo",
                "time": "18:30",
                "target_timezone": "Asia/Kolkata",
            });
            let call = peer.tools().call("convert_time", arguments);
            let converted: BTreeMap<String, Value> = call.typed().await?;
            assert_eq!(converted["source"]["timezone"], "Asia/Tokyo");
            let target = converted["target"]["datetime"].as_str();
            assert!(target.is_some_and(|target| target.contains("T15:00:00")));
            assert_eq!(converted["time_difference"], "-3.5h");
            let nowhere = json!({"timezone": "Mars/Olympus"});
            let text = peer.failure("get_current_time", nowhere).await?;
            assert!(text.contains("Mars/Olympus"), "{text}");
            let unknown = peer.tools().call("tell_time", json!({})).await;
            let reason = unknown.err().map(|error| error.reason());
            assert_eq!(reason, Some(Reason::ToolNotFound));
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn fetch_lists_its_tool_and_prompt() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = Peer::open(speaking(revision), python("mcp-server-fetch")?).await?;
            assert_eq!(peer.revision(), Some(revision));
            assert_eq!(peer.tool_names().await?, ["fetch"]);
            let prompts = peer.prompts().list().await?;
            assert_eq!(prompts.len(), 1);
            assert_eq!(prompts[0].arguments[0].required, Some(true));
            assert_eq!(peer.resources().list().await?, []);
            assert_eq!(peer.resources().templates().await?, []);
            peer.close().await?;
        }
        Ok(())
    })
    .await
}
