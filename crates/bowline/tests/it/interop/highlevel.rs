//! A server on the Python SDK, in both eras: what it offers when asked.

use bowline::{
    client::ClientBuilder,
    proto::{
        Reason,
        model::{CompleteArgument, CompleteContext, CompleteParams, PromptReference, Reference},
        revision::{Era, Revision, handshake_revisions},
    },
};
use serde_json::json;

use super::rig::{Checked, Fault, Peer, builder, script, within};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn speaking(revision: Revision) -> ClientBuilder {
    builder().revisions([revision])
}

async fn open(revision: Revision) -> Result<Peer, Fault> {
    let peer = Peer::open(speaking(revision), script("highlevel_server.py")?).await?;
    assert_eq!(peer.revision(), Some(revision));
    Ok(peer)
}

#[tokio::test]
async fn it_is_discovered_and_every_request_says_who_asks() -> Checked {
    within(async {
        let peer = Peer::open(builder(), script("highlevel_server.py")?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2026_07_28));
        assert_eq!(peer.name(), "bowline-peer 1.2.3");
        let server = peer.server_info().ok_or("no server")?;
        let instructions = server.instructions.as_deref();
        assert_eq!(instructions, Some("Ask me anything; I may ask back."));
        assert!(peer.frames.sent("initialize").is_empty());
        peer.tool_names().await?;
        for method in ["server/discover", "tools/list"] {
            let sent = peer.frames.sent(method);
            let meta = &sent[0]["params"]["_meta"];
            let version = &meta["io.modelcontextprotocol/protocolVersion"];
            assert_eq!(version, "2026-07-28", "{method}");
            let client = &meta["io.modelcontextprotocol/clientInfo"]["name"];
            assert_eq!(client, "bowline-interop", "{method}");
        }
        // It has no ping, and is asked what it is instead.
        peer.ping().await?;
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn it_speaks_every_revision_with_a_handshake() -> Checked {
    within(async {
        for revision in handshake_revisions() {
            let peer = open(revision).await?;
            let text = peer.text("add", json!({"a": 1, "b": 2})).await?;
            assert!(text.contains("\"total\": 3"), "{text}");
            peer.ping().await?;
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn tools_are_called_well_and_badly() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(revision).await?;
            assert_eq!(peer.tool_names().await?.len(), 11);
            let sum = peer.value("add", json!({"a": 20, "b": 22})).await?;
            assert_eq!(sum, json!({"total": 42, "terms": [20, 22]}));
            let text = peer.failure("fail", json!({"why": "no wind"})).await?;
            assert!(text.contains("no wind"), "{text}");
            let text = peer.failure("add", json!({"a": "x"})).await?;
            assert!(text.contains("validation error"), "{text}");
            let unknown = peer.tools().call("untie", json!({})).await;
            match unknown {
                Ok(result) => assert!(result.is_error(), "{result:?}"),
                Err(error) => assert_eq!(error.reason(), Reason::InvalidParams),
            }
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn resources_are_listed_and_read() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(revision).await?;
            let resources = peer.resources().list().await?;
            let mut uris: Vec<_> = resources.iter().map(|it| it.uri.as_str()).collect();
            uris.sort_unstable();
            assert_eq!(uris, ["bytes://knot", "note://today"]);
            let templates = peer.resources().templates().await?;
            assert_eq!(templates[0].uri_template, "note://{name}");
            let read = peer.resources().read("note://today").await?;
            assert_eq!(read.contents[0].text.as_deref(), Some("buy rope"));
            let read = peer.resources().read("note://monday").await?;
            let text = read.contents[0].text.as_deref();
            assert_eq!(text, Some("nothing about monday"));
            let read = peer.resources().read("bytes://knot").await?;
            assert_eq!(read.contents[0].blob.as_deref(), Some("AP8H"));
            let missing = peer.resources().read("bytes://nothing").await;
            let reason = missing.err().map(|error| error.reason());
            assert_eq!(reason, Some(Reason::ResourceNotFound), "{revision}");
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn prompts_are_filled_in_and_their_arguments_completed() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(revision).await?;
            let prompts = peer.prompts().list().await?;
            let required: Vec<_> = prompts[0].arguments.iter().map(|it| it.required).collect();
            assert_eq!(required, [Some(true), Some(false)]);
            let filled = peer.prompts().get("greet", [("name", "Ada")]).await?;
            let text = filled.messages[0].content.as_text();
            assert_eq!(text, Some("Greet Ada warmly."));
            let none: [(&str, &str); 0] = [];
            assert!(peer.prompts().get("greet", none).await.is_err());
            let prompt = Reference::Prompt(PromptReference::new("greet"));
            let argument = CompleteArgument::new("manner", "w");
            let mut params = CompleteParams::new(prompt, argument);
            let result = peer.request(params.clone()).await?;
            assert_eq!(result.completion.values, ["warmly", "wordlessly"]);
            let mut context = CompleteContext::default();
            context.arguments = Some([("name", "Ada".to_owned())].into_iter().collect());
            params.context = Some(context);
            let result = peer.request(params).await?;
            assert_eq!(result.completion.total, Some(3));
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_an_era_lacks_is_refused_before_the_wire() -> Checked {
    within(async {
        let peer = open(Revision::V2025_11_25).await?;
        assert_eq!(peer.revision().map(Revision::era), Some(Era::Handshake));
        let error = peer.resources().subscribe("note://today").await.err();
        let reason = error.map(|error| error.reason());
        assert_eq!(reason, Some(Reason::CapabilityNotSupported));
        assert!(peer.frames.sent("resources/subscribe").is_empty());
        peer.close().await
    })
    .await
}
