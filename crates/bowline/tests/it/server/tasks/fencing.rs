//! Runs of one task: an earlier one never undoes what a later one was started for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    faults::{Fault, Operation},
    rig::{App, CorePeer, ExtensionPeer, Shared, faulty_service},
};

/// Longer than any retry or takeover takes.
const LONG: Duration = Duration::from_secs(30);

fn name(name: &str) -> Value {
    json!({"name": {"action": "accept", "content": {"name": name}}})
}

/// Checks that a task completes with its answer, and never asks again.
async fn check_greets_ada(client: &mut ExtensionPeer, id: &str, app: &App) {
    let ended = timeout(LONG, client.wait(id, "completed")).await;
    let task = ended.expect("the answer is acted upon");
    assert_eq!(task["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(app.effects(), ["Ada"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_runs_although_the_run_that_asked_has_not_quite_ended() {
    let app = App::default();
    let (service, way) = faulty_service(&app);
    let mut client = ExtensionPeer::new(&service);
    way.next(Operation::Update, Fault::WaitsAfter);
    let id = client.create("name").await;
    way.wait_until_held().await;
    assert_eq!(client.get(&id).await["status"], "input_required");
    client.update(&id, &name("Ada")).await;
    way.let_go();
    check_greets_ada(&mut client, &id, &app).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_overwritten_by_a_run_that_stores_its_question_again() {
    let app = App::default();
    let (service, way) = faulty_service(&app);
    let mut client = ExtensionPeer::new(&service);
    // It was stored, so it is not stored again, however often the run tries to.
    way.next(Operation::Update, Fault::LosesReply);
    let id = client.create("name").await;
    client.wait(&id, "input_required").await;
    client.update(&id, &name("Ada")).await;
    check_greets_ada(&mut client, &id, &app).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_overwritten_by_a_run_that_stopped_before_another_node_asked() {
    let (shared, app) = (Shared::new(), App::default());
    let (first, way) = shared.faulty_node(&app);
    let mut client = ExtensionPeer::new(&first);
    let mut other = ExtensionPeer::new(&shared.node(&app));
    // Now the second node looks for abandoned tasks.
    other.create("hello").await;
    way.next(Operation::Update, Fault::WaitsBefore);
    way.cut_off(&[Operation::Renew, Operation::Claim]);
    let id = client.create("name").await;
    way.wait_until_held().await;
    other.wait(&id, "input_required").await;
    assert!(shared.tasks.claimed().contains(&id));
    // Back, the first node accepts the answer, and only then goes on with its first run.
    way.cut_off(&[]);
    client.update(&id, &name("Ada")).await;
    way.let_go();
    check_greets_ada(&mut client, &id, &app).await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_late_does_not_end_an_answered_task() {
    let (shared, app) = (Shared::new(), App::default());
    let mut client = CorePeer::new(&shared.node(&app)).await;
    let mut other = CorePeer::new(&shared.node(&app)).await;
    let id = client.create("slow").await;
    let params = json!({"taskId": id});
    let waiting = [
        client.request("tasks/result", &params).await,
        other.request("tasks/result", &params).await,
    ];
    // Both nodes ask the same question.
    let (late, question) = (client.receive().await, other.receive().await);
    for asked in [&late, &question] {
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
    }
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
    other.send(&answer).await;
    app.wait_at_gate().await;
    let error = json!({"code": -32000, "message": "nobody is here"});
    let refusal = json!({"jsonrpc": "2.0", "id": late["id"], "error": error});
    client.send(&refusal).await;
    // The refusal has arrived.
    let task = client.ask("tasks/get", &params).await;
    assert_eq!(task["result"]["status"], "working");
    app.open_gate();
    for (peer, waiting) in [(&mut client, waiting[0]), (&mut other, waiting[1])] {
        let result = peer.answer(waiting).await;
        assert_eq!(result["result"]["content"][0]["text"], "Slowly, Ada");
    }
}
