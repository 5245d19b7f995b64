//! Tasks of the extension.

use serde_json::json;

use super::rig::{App, ExtensionPeer, service};
use crate::server::replay::rig::{Peer, Round};

const INVALID_PARAMS: i64 = -32602;

fn name(name: &str) -> serde_json::Value {
    json!({"name": {"action": "accept", "content": {"name": name}}})
}

/// Checks that a request was answered with nothing but that it arrived.
#[track_caller]
fn is_acknowledged(round: &Round) {
    let Round::Ended(result) = round else {
        panic!("it was refused: {round:?}");
    };
    let members: Vec<_> = result.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["resultType", "_meta"]);
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn a_call_becomes_a_task_and_its_result_is_fetched() {
    let mut client = ExtensionPeer::new(&service(&App::default()));
    let id = client.create("hello").await;
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["resultType"], "complete");
    assert_eq!(task["result"]["content"][0]["text"], "Hello!");
    assert_eq!(task["result"]["resultType"], "complete");
    assert_eq!(client.get(&id).await, task, "it stays");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_knows_no_tasks_gets_results_or_an_error() {
    let mut client = Peer::new(&service(&App::default()));
    let called = client
        .ask("tools/call", &json!({"name": "hello", "arguments": {}}))
        .await;
    assert_eq!(called.text(), ("Hello!".to_owned(), false));
    let called = client
        .ask("tools/call", &json!({"name": "fails", "arguments": {}}))
        .await;
    assert!(matches!(called, Round::Refused(-32021, _)), "{called:?}");
    let got = client.ask("tasks/get", &json!({"taskId": "x"})).await;
    assert!(matches!(got, Round::Refused(-32021, _)), "{got:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_completes_its_task() {
    let mut client = ExtensionPeer::new(&service(&App::default()));
    let id = client.create("fails").await;
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["isError"], true);
    assert_eq!(task["result"]["content"][0]["text"], "Error: no paper");
}

#[tokio::test(start_paused = true)]
async fn questions_are_part_of_the_task() {
    let app = App::default();
    let mut client = ExtensionPeer::new(&service(&app));
    let id = client.create("name").await;
    let task = client.wait(&id, "input_required").await;
    assert_eq!(
        task["inputRequests"]["name"]["params"]["message"],
        "Your name?"
    );
    assert_eq!(task.get("requestState"), None);

    // Neither what it did not ask for, nor what is no answer, has an effect.
    let ignored = client
        .update(&id, &json!({"other": {"ignored": true}}))
        .await;
    is_acknowledged(&ignored);
    let invalid = client.update(&id, &json!({"name": {"action": 7}})).await;
    assert!(
        matches!(invalid, Round::Refused(INVALID_PARAMS, _)),
        "{invalid:?}"
    );
    assert_eq!(client.get(&id).await["status"], "input_required");

    client.update(&id, &name("Ada")).await;
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "Hello, Ada!");
    // A second answer comes too late.
    client.update(&id, &name("Eve")).await;
    assert_eq!(client.get(&id).await, task);
    assert_eq!(app.effects(), ["Ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_stays_so() {
    let app = App::default();
    let mut client = ExtensionPeer::new(&service(&app));
    let id = client.create("steps").await;
    app.wait_at_gate().await;
    is_acknowledged(&client.cancel(&id).await);
    assert_eq!(client.get(&id).await["status"], "cancelled");
    is_acknowledged(&client.cancel(&id).await);
    app.open_gate();
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert_eq!(client.get(&id).await["status"], "cancelled");
    assert_eq!(app.effects(), ["one"], "nothing happens after that");
}

#[tokio::test(start_paused = true)]
async fn a_call_becomes_a_task_when_it_takes_too_long() {
    let app = App::default();
    let mut client = ExtensionPeer::new(&service(&app));
    let asked = client.call("slow").await.questions();
    let mut params = json!({"name": "slow", "arguments": {}, "requestState": asked.state});
    params["inputResponses"] = name("Ada");
    let Round::Ended(created) = client.0.ask("tools/call", &params).await else {
        panic!("it became no task");
    };
    assert_eq!(
        (&created["resultType"], created.get("requestState")),
        (&json!("task"), None)
    );
    let id = created["taskId"].as_str().expect("an id").to_owned();
    assert_eq!(client.get(&id).await["status"], "working");
    app.open_gate();
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "Slowly, Ada");
}

#[tokio::test(start_paused = true)]
async fn what_a_task_reports_is_its_status() {
    let app = App::default();
    let mut client = ExtensionPeer::new(&service(&app));
    let id = client.create("steps").await;
    app.wait_at_gate().await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    assert_eq!(client.get(&id).await["statusMessage"], "one is done");
    assert_eq!(
        client.0.told,
        Vec::<serde_json::Value>::new(),
        "and nothing is sent"
    );
    app.open_gate();
    client.wait(&id, "completed").await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_with_a_context_reports_and_completes_in_a_task() {
    let app = App::default();
    let mut client = ExtensionPeer::new(&service(&app));
    let id = client.create("reports").await;
    app.wait_at_gate().await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    assert_eq!(client.get(&id).await["statusMessage"], "half of it");
    app.open_gate();
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "reported");
    assert_eq!(app.effects(), ["report"]);
}

#[tokio::test(start_paused = true)]
async fn others_do_not_find_a_task() {
    let app = App::default();
    let service = service(&app);
    let mut ada = ExtensionPeer::known(&service, "ada");
    let id = ada.create("name").await;
    ada.wait(&id, "input_required").await;
    let mut eve = ExtensionPeer::known(&service, "eve");
    let mut nobody = ExtensionPeer::new(&service);
    let unknown = eve
        .0
        .ask("tasks/get", &json!({"taskId": "0".repeat(32)}))
        .await;
    assert!(matches!(unknown, Round::Refused(INVALID_PARAMS, _)));
    for other in [&mut eve, &mut nobody] {
        let found = other.0.ask("tasks/get", &json!({"taskId": id})).await;
        assert_eq!(found, unknown, "it is as if it did not exist");
        assert_eq!(other.update(&id, &name("Eve")).await, unknown);
        assert_eq!(other.cancel(&id).await, unknown);
    }
    assert_eq!(ada.get(&id).await["status"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_forgotten_after_its_time() {
    let app = App::default();
    let clock = crate::server::replay::rig::clock();
    let service = super::rig::server(&app)
        .clock(clock)
        .build()
        .expect("sound");
    let mut client = ExtensionPeer::new(&service);
    let id = client.create("hello").await;
    let ttl = client.wait(&id, "completed").await["ttlMs"]
        .as_u64()
        .expect("a time");
    let almost = std::time::Duration::from_millis(ttl - 60_000);
    tokio::time::sleep(almost).await;
    assert_eq!(client.get(&id).await["status"], "completed");
    tokio::time::sleep(std::time::Duration::from_secs(61)).await;
    let got = client.0.ask("tasks/get", &json!({"taskId": id})).await;
    assert!(matches!(got, Round::Refused(INVALID_PARAMS, _)), "{got:?}");
}

#[tokio::test(start_paused = true)]
async fn one_client_cannot_have_any_number() {
    let app = App::default();
    let options = bowline::server::TaskOptions::new().max_per_caller(3);
    let service = super::rig::server(&app)
        .task_options(options)
        .build()
        .expect("sound");
    let mut ada = ExtensionPeer::known(&service, "ada");
    for _ in 0..3 {
        ada.create("name").await;
    }
    let refused = ada.call("name").await;
    assert!(
        refused.refusal().contains("Too many tasks: the limit is 3"),
        "{refused:?}"
    );
    ExtensionPeer::known(&service, "eve").create("name").await;
}

#[tokio::test(start_paused = true)]
async fn whoever_listens_is_told_of_every_change() {
    let app = App::default();
    let service = service(&app);
    let mut client = ExtensionPeer::known(&service, "ada");
    let id = client.create("name").await;
    client.wait(&id, "input_required").await;
    let mut listener = ExtensionPeer::known(&service, "ada");
    let params = json!({"notifications": {"taskIds": [id]}});
    listener.0.send("subscriptions/listen", &params).await;
    // Someone else who has the id.
    let mut eve = ExtensionPeer::known(&service, "eve");
    eve.0.send("subscriptions/listen", &params).await;
    for peer in [&mut listener, &mut eve] {
        // Until the stream is open.
        peer.0.ask("tools/list", &json!({"cursor": null})).await;
    }
    client.update(&id, &name("Ada")).await;
    client.wait(&id, "completed").await;
    for peer in [&mut listener, &mut eve] {
        peer.0.ask("tools/list", &json!({"cursor": null})).await;
    }
    let told = |peer: &ExtensionPeer| {
        let told = peer
            .0
            .told
            .iter()
            .filter(|it| it["method"] == "notifications/tasks");
        told.map(|it| it["params"]["status"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(&listener),
        ["working", "completed"].map(serde_json::Value::from)
    );
    assert_eq!(told(&eve), Vec::<serde_json::Value>::new());
}
