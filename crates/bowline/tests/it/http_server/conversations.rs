//! Tools that ask, over HTTP, in both eras.

use bowline::server::{
    seal::SealKeys,
    store::{MemoryJournalStore, MemorySealedStateStore},
};
use serde_json::{Value, json};

use super::{
    rig::{Answer, Node, Session, text_of},
    tools::{Workshop, workshop, workshop_with},
};

/// Plays a conversation by rounds, each at the next of these nodes.
async fn converse(nodes: &[Node]) -> Value {
    let mut params = json!({"name": "ask", "arguments": {}});
    let mut nodes = nodes.iter().cycle();
    for colour in ["red", "blue"] {
        let node = nodes.next().expect("a node");
        let asked = node.ask("tools/call", params.clone()).await.json().await;
        let asked = &asked["result"];
        assert_eq!(asked["resultType"], "input_required");
        let keys = asked["inputRequests"]
            .as_object()
            .expect("questions")
            .keys();
        let accept = json!({"action": "accept", "content": {"colour": colour}});
        let answers: Value = keys.map(|key| (key.clone(), accept.clone())).collect();
        params["inputResponses"] = answers;
        params["requestState"] = asked["requestState"].clone();
    }
    let node = nodes.next().expect("a node");
    node.ask("tools/call", params).await.json().await
}

#[tokio::test(start_paused = true)]
async fn a_conversation_by_rounds() {
    let it = workshop();
    let answer = converse(&[Node::new(&it.service)]).await;
    assert_eq!(text_of(&answer), "red and blue");
}

#[tokio::test(start_paused = true)]
async fn two_nodes_share_a_conversation() {
    let key = || SealKeys::from_secret(&[7; 32]).unwrap();
    let journals = std::sync::Arc::new(MemoryJournalStore::default());
    let node = || {
        let journals = std::sync::Arc::clone(&journals);
        workshop_with(|server| {
            let server = server.seal_keys(key()).journal_store(journals);
            server.sealed_state_store(MemorySealedStateStore::default())
        })
    };
    let (one, two) = (node(), node());
    let nodes = [Node::new(&one.service), Node::new(&two.service)];
    let answer = converse(&nodes).await;
    assert_eq!(text_of(&answer), "red and blue");
}

#[tokio::test(start_paused = true)]
async fn anothers_conversation_cannot_be_gone_on_with() {
    let it = workshop();
    let node = Node::new(&it.service);
    let nodes = [node.asked_by("ada"), node.asked_by("bob")];
    let mut params = json!({"name": "ask", "arguments": {}});
    let asked = nodes[0]
        .ask("tools/call", params.clone())
        .await
        .json()
        .await;
    params["requestState"] = asked["result"]["requestState"].clone();
    let accept = json!({"action": "accept", "content": {"colour": "red"}});
    params["inputResponses"] = json!({"first": accept});
    for thief in [&nodes[1], &node] {
        let refused = thief.ask("tools/call", params.clone()).await;
        assert_eq!(refused.error().await["code"], -32602);
    }
    let asked = nodes[0].ask("tools/call", params).await.json().await;
    assert_eq!(asked["result"]["resultType"], "input_required");
}

/// Answers the two questions of a call, as they come in its stream.
async fn answer_live(session: &Session, mut call: Answer) -> Value {
    for colour in ["red", "blue"] {
        let question = call.message().await.expect("a message");
        assert_eq!(question["method"], "elicitation/create");
        let taken = session.accept(&question, json!({"colour": colour})).await;
        assert_eq!(taken.status(), 202);
    }
    let answer = call.message().await.expect("a message");
    assert_eq!(call.event().await, None);
    answer
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_live() {
    for version in ["2025-06-18", "2025-11-25"] {
        let it = workshop();
        let node = Node::new(&it.service);
        let session = Session::open(&node, version).await;
        let call = session.call(1, "ask").await;
        assert!(call.is_stream());
        let answer = answer_live(&session, call).await;
        assert_eq!(text_of(&answer), "red and blue");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_missed_is_asked_again() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "ask").await;
    let primed = call.event().await.unwrap().id.unwrap();
    drop(call);
    let call = session.resume(&primed).await;
    let answer = answer_live(&session, call).await;
    assert_eq!(text_of(&answer), "red and blue");
}

#[tokio::test(start_paused = true)]
async fn another_principals_answer_is_not_taken() {
    let Workshop { service, .. } = workshop();
    let node = Node::new(&service);
    let (ada, bob) = (node.asked_by("ada"), node.asked_by("bob"));
    let session = Session::open(&ada, "2025-11-25").await;
    let mut call = session.call(1, "ask").await;
    let question = call.message().await.unwrap();
    let thief = session.at(&bob);
    let forged = thief.accept(&question, json!({"colour": "black"}));
    assert_eq!(forged.await.status(), 404);
    let taken = session.accept(&question, json!({"colour": "red"})).await;
    assert_eq!(taken.status(), 202);
    let question = call.message().await.unwrap();
    session.accept(&question, json!({"colour": "blue"})).await;
    assert_eq!(text_of(&call.message().await.unwrap()), "red and blue");
}
