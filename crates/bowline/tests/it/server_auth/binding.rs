//! What one principal began, no other can go on with.

use serde_json::{Value, json};

use super::rig::{Issuer, Node, Session};

/// A server, asked by two users of one issuer.
fn two() -> (Node, Node) {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let (ada, eve) = (issuer.token("ada"), issuer.token("eve"));
    (node.bearing(&ada), node.bearing(&eve))
}

#[tokio::test]
async fn a_stolen_session_is_not_there() {
    let (ada, eve) = two();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::open(&ada, version).await;
        let stolen = session.at(&eve);
        assert_eq!(stolen.call(1, "whoami").await.status(), 404);
        assert_eq!(stolen.get(None).await.status(), 404);
        assert_eq!(stolen.delete().await.status(), 404);
        let said = session.call(1, "whoami").await.text().await;
        assert!(said.contains("sub ada"), "{said}");
    }
}

#[tokio::test]
async fn a_new_token_of_the_same_user_goes_on() {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let session = Session::open(&node.bearing(&issuer.token("ada")), "2025-11-25").await;
    let newer = issuer.token_with(|claims| claims["exp"] = json!(super::rig::now() + 900));
    let session = session.at(&node.bearing(&newer));
    assert_eq!(session.call(1, "whoami").await.status(), 200);
}

#[tokio::test]
async fn a_subject_cannot_pass_for_another_holder() {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let session = Session::open(&node.bearing(&issuer.token("ada")), "2025-11-25").await;
    let client = issuer.token_with(|claims| {
        claims.as_object_mut().unwrap().remove("sub");
        claims["client_id"] = "ada".into();
    });
    let said = node.bearing(&client).whoami().await;
    assert_eq!(
        (&said["subject"], &said["client"]),
        (&Value::Null, &json!("ada"))
    );
    let stolen = session.at(&node.bearing(&client));
    assert_eq!(stolen.call(1, "whoami").await.status(), 404);
}

#[tokio::test]
async fn another_principal_cannot_resume_a_stream() {
    let (ada, eve) = two();
    let session = Session::open(&ada, "2025-11-25").await;
    let mut asked = session.call(1, "ask").await;
    let first = asked.event().await.unwrap();
    let last = first.id.clone().unwrap();
    drop(asked);
    assert_eq!(session.at(&eve).get(Some(&last)).await.status(), 404);
    let mut resumed = session.get(Some(&last)).await;
    assert_eq!(resumed.status(), 200);
    let question = loop {
        let event = resumed.event().await.unwrap();
        if let Some(message) = event.message() {
            break serde_json::from_slice::<Value>(message).unwrap();
        }
    };
    assert_eq!(question["method"], "elicitation/create");
    // Nor answer what it asks.
    let result = json!({"action": "accept", "content": {"confirmed": true}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(session.at(&eve).post(&answer).await.status(), 404);
    assert_eq!(session.post(&answer).await.status(), 202);
}

#[tokio::test]
async fn another_principal_cannot_go_on_with_a_conversation() {
    let (ada, eve) = two();
    let asked = ada.call("ask").await.json().await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required");
    let keys = asked["inputRequests"].as_object().unwrap().keys();
    let accept = json!({"action": "accept", "content": {"confirmed": true}});
    let answers: serde_json::Map<_, _> = keys.map(|key| (key.clone(), accept.clone())).collect();
    let round = json!({
        "name": "ask", "arguments": {},
        "requestState": asked["requestState"], "inputResponses": answers,
    });
    let refused = eve.ask("tools/call", round.clone()).await.json().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let said = ada.ask("tools/call", round).await.json().await;
    assert_eq!(
        said["result"]["content"][0]["text"], "Some(\"ada\")",
        "{said}"
    );
}
