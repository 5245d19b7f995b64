//! A server on the low-level Python SDK: lists in pages, rounds of input in
//! answer to every method that may have them, streams that the server ends.

use bowline::{
    client::Notification,
    proto::{
        jsonrpc::RawJson,
        model::{ElicitAction, ElicitParams, ElicitResult, ListToolsParams},
        revision::{Era, Revision},
    },
};
use serde_json::json;

use super::rig::{Checked, Fault, Peer, await_notice, builder, script, within};

#[tokio::test]
async fn pages_are_followed_to_the_end() -> Checked {
    within(async {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let only = builder().revisions([revision]);
            let peer = Peer::open(only, script("lowlevel_server.py")?).await?;
            let names = peer.tool_names().await?;
            assert_eq!(
                names,
                [
                    "ring", "hang_up", "visit", "wait", "tool-4", "tool-5", "tool-6"
                ]
            );
            let cursors: Vec<_> = peer
                .frames
                .sent("tools/list")
                .into_iter()
                .map(|request| request["params"]["cursor"].clone())
                .collect();
            assert_eq!(cursors.len(), 3);
            assert!(cursors[0].is_null());
            assert_eq!(cursors[1], "", "an empty cursor is a cursor");
            assert_eq!(cursors[2], "6");
            let page = peer.request(ListToolsParams::default()).await?;
            let stateless = revision.era() == Era::Stateless;
            assert_eq!(page.ttl_ms, stateless.then_some(60_000));
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

/// A user who is called Ada, and visits every page.
async fn met_by_ada() -> Result<Peer, Fault> {
    let name = RawJson::encode(&json!({"name": "Ada"}))?;
    let on_elicit = move |question: ElicitParams| {
        std::future::ready(if question.is_url() {
            ElicitResult::new(ElicitAction::Accept)
        } else {
            ElicitResult::accept(name.clone())
        })
    };
    let builder = builder().on_elicit(on_elicit).allow_url_elicitation();
    let only = builder.revisions([Revision::V2026_07_28]);
    Peer::open(only, script("lowlevel_server.py")?).await
}

#[tokio::test]
async fn prompts_and_resources_may_ask_too() -> Checked {
    within(async {
        let peer = met_by_ada().await?;
        let none: [(&str, &str); 0] = [];
        let filled = peer.prompts().get("greet", none).await?;
        let text = filled.messages[0].content.as_text();
        assert_eq!(text, Some("Greet Ada."));
        let read = peer.resources().read("bell://one").await?;
        let text = read.contents[0].text.as_deref();
        assert_eq!(text, Some("It tolls for Ada."));
        for method in ["prompts/get", "resources/read"] {
            let rounds = peer.frames.sent(method);
            assert_eq!(rounds.len(), 2, "{method}");
            assert_ne!(rounds[0]["id"], rounds[1]["id"], "{method}");
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_user_is_sent_to_a_page() -> Checked {
    within(async {
        let peer = met_by_ada().await?;
        let text = peer.text("visit", json!({})).await?;
        assert_eq!(text, "the user chose to accept");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_server_that_asks_for_patience_gets_it() -> Checked {
    within(async {
        let peer = met_by_ada().await?;
        let text = peer.text("wait", json!({})).await?;
        assert_eq!(text, "after 2 rounds");
        assert_eq!(peer.frames.sent("tools/call").len(), 3);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_stream_that_the_server_ends_is_opened_again() -> Checked {
    within(async {
        let peer = met_by_ada().await?;
        let mut notices = peer.subscribe_to_list_changes();
        let _bell = peer.resources().subscribe("bell://one").await?;
        let is_update = |notice: &Notification| matches!(notice, Notification::ResourceUpdated(_));
        peer.text("ring", json!({})).await?;
        await_notice(&mut notices, is_update).await?;
        peer.text("hang_up", json!({})).await?;
        let is_back = |notice: &Notification| {
            matches!(notice, Notification::Resubscribed { uris } if uris.len() == 1)
        };
        await_notice(&mut notices, is_back).await?;
        peer.text("ring", json!({})).await?;
        await_notice(&mut notices, is_update).await?;
        assert_eq!(peer.health().sessions, 1, "the connection did not fall");
        peer.close().await
    })
    .await
}
