//! `@modelcontextprotocol/server-memory`: a graph in a file of the test's.

use std::fs;

use bowline::{client::Notification, proto::revision::Revision};
use serde_json::json;

use super::{
    folder::Folder,
    rig::{Checked, Fault, Peer, await_notice, builder, node, within},
};

async fn memory(folder: &Folder) -> Result<Peer, Fault> {
    let process = node("mcp-server-memory")?.env("MEMORY_FILE_PATH", folder.join("graph.jsonl"));
    Peer::open(builder(), process).await
}

#[tokio::test]
async fn a_graph_is_built_searched_and_taken_apart() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let peer = memory(&folder).await?;
        assert_eq!(peer.revision(), Some(Revision::V2025_11_25));
        assert_eq!(peer.tool_names().await?.len(), 9);
        let entities = json!({"entities": [
            {"name": "bowline", "entityType": "knot", "observations": ["holds"]},
            {"name": "rope", "entityType": "thing", "observations": []},
        ]});
        let made = peer.value("create_entities", entities).await?;
        assert_eq!(made["entities"][0]["name"], "bowline");
        let relation = json!([{"from": "bowline", "to": "rope", "relationType": "is tied in"}]);
        let relations = json!({"relations": relation});
        peer.value("create_relations", relations.clone()).await?;
        let seen = json!([{"entityName": "rope", "contents": ["is long"]}]);
        peer.value("add_observations", json!({"observations": seen}))
            .await?;
        let found = peer.value("search_nodes", json!({"query": "long"})).await?;
        assert_eq!(found["entities"][0]["name"], "rope");
        let opened = peer
            .value("open_nodes", json!({"names": ["bowline"]}))
            .await?;
        assert_eq!(opened["entities"][0]["observations"][0], "holds");
        let forgotten = json!([{"entityName": "rope", "observations": ["is long"]}]);
        peer.value("delete_observations", json!({"deletions": forgotten}))
            .await?;
        peer.value("delete_relations", relations).await?;
        peer.value("delete_entities", json!({"entityNames": ["rope"]}))
            .await?;
        let graph = peer.value("read_graph", json!({})).await?;
        assert_eq!(graph["entities"].as_array().map(Vec::len), Some(1));
        assert_eq!(graph["relations"], json!([]));
        assert!(fs::read_to_string(folder.join("graph.jsonl"))?.contains("bowline"));
        let bad = peer
            .failure("create_entities", json!({"entities": 1}))
            .await?;
        assert!(bad.contains("-32602"), "{bad}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn changes_of_the_graph_are_announced_to_subscribers() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let peer = memory(&folder).await?;
        let mut notices = peer.subscribe_to_list_changes();
        let resources = peer.resources().list().await?;
        let uri = &resources[0].uri;
        let subscribed = peer.resources().subscribe(uri).await?;
        let entities = json!([{"name": "cleat", "entityType": "thing", "observations": []}]);
        peer.value("create_entities", json!({"entities": entities}))
            .await?;
        let is_update = |notice: &Notification| {
            matches!(notice, Notification::ResourceUpdated(update) if update.uri == *uri)
        };
        await_notice(&mut notices, is_update).await?;
        let read = peer.resources().read(uri).await?;
        let text = read.contents[0].text.as_deref().unwrap_or_default();
        assert!(text.contains("cleat"), "{text}");
        subscribed.unsubscribe().await?;
        peer.close().await
    })
    .await
}
