//! `@modelcontextprotocol/server-sequential-thinking`: one tool that remembers.

use bowline::proto::revision::Revision;
use serde_json::{Value, json};

use super::rig::{Checked, Peer, builder, node, within};

#[tokio::test]
async fn thoughts_follow_each_other_in_one_session() -> Checked {
    within(async {
        let peer = Peer::open(builder(), node("mcp-server-sequential-thinking")?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2025_11_25));
        assert_eq!(peer.tool_names().await?, ["sequentialthinking"]);
        let thought = |number: u32, more: bool| {
            json!({
                "thought": format!("thought {number}"),
                "thoughtNumber": number,
                "totalThoughts": 2,
                "nextThoughtNeeded": more,
            })
        };
        let tool = "sequentialthinking";
        let first = peer.value(tool, thought(1, true)).await?;
        assert_eq!(first["thoughtHistoryLength"], 1);
        let mut branch = thought(2, true);
        branch["branchFromThought"] = json!(1);
        branch["branchId"] = json!("other");
        let second = peer.value(tool, branch).await?;
        assert_eq!(second["branches"], json!(["other"]));
        let third: Value = peer.tools().call(tool, thought(3, false)).typed().await?;
        assert_eq!(third["thoughtHistoryLength"], 3);
        assert_eq!(third["totalThoughts"], 3, "it adapts to the number");
        let bad = peer.failure(tool, json!({"thought": "half"})).await?;
        assert!(bad.contains("-32602"), "{bad}");
        peer.close().await
    })
    .await
}
