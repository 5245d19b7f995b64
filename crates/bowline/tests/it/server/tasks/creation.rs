//! Tasks whose creation fails, or may have: what the client does not know does not run.

use serde_json::json;
use tokio::time::sleep;

use super::{
    faults::{Fault, Operation},
    rig::{App, ExtensionPeer, LEASE, Shared, server},
};

#[tokio::test(start_paused = true)]
async fn a_task_whose_creation_was_not_confirmed_is_found_and_runs() {
    let (shared, app) = (Shared::new(), App::default());
    let (node, way) = shared.faulty_node(&app);
    way.next(Operation::Create, Fault::LosesReply);
    let mut client = ExtensionPeer::new(&node);
    let id = client.create("reports").await;
    app.open_gate();
    client.wait(&id, "completed").await;
    assert_eq!(app.effects(), ["report"]);
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_failed_is_repeated() {
    let (shared, app) = (Shared::new(), App::default());
    let (node, way) = shared.faulty_node(&app);
    way.next(Operation::Create, Fault::LosesReply);
    way.next(Operation::Load, Fault::LosesReply);
    way.next(Operation::Create, Fault::LosesReply);
    let mut client = ExtensionPeer::new(&node);
    let id = client.create("hello").await;
    client.wait(&id, "completed").await;
}

/// Another node that would take the task over.
async fn watching_node(shared: &Shared, app: &App) -> ExtensionPeer {
    let mut client = ExtensionPeer::new(&shared.node(app));
    let id = client.create("hello").await;
    client.wait(&id, "completed").await;
    client
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_creation_was_reported_as_an_error_never_runs() {
    let (shared, app) = (Shared::new(), App::default());
    let (node, way) = shared.faulty_node(&app);
    let _watching = watching_node(&shared, &app).await;
    way.next(Operation::Create, Fault::LosesReply);
    way.next(Operation::Create, Fault::LosesReply);
    way.next(Operation::Create, Fault::LosesReply);
    way.cut_off(&[Operation::Load]);
    let mut client = ExtensionPeer::new(&node);
    let refused = client.call("reports").await;
    assert!(refused.refusal().contains("no reply"), "{refused:?}");
    // The store is back before the lease has ended.
    way.cut_off(&[]);
    sleep(20 * LEASE).await;
    assert_eq!(shared.tasks.claimed(), [""; 0]);
    assert_eq!(app.effects(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_client_left_before_it_was_told_never_runs() {
    let (shared, app) = (Shared::new(), App::default());
    let (node, way) = shared.faulty_node(&app);
    let _watching = watching_node(&shared, &app).await;
    way.next(Operation::Create, Fault::WaitsAfter);
    let mut client = ExtensionPeer::new(&node);
    let params = json!({"name": "reports", "arguments": {}});
    let call = client.0.send("tools/call", &params).await;
    way.wait_until_held().await;
    client.0.cancel(call).await;
    sleep(20 * LEASE).await;
    assert_eq!(shared.tasks.claimed(), [""; 0]);
    assert_eq!(app.effects(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_not_become_a_task_stays_a_call() {
    let app = App::default();
    let options = bowline::server::TaskOptions::new().max_per_caller(1);
    let service = server(&app).task_options(options).build().expect("sound");
    let mut client = ExtensionPeer::known(&service, "ada");
    client.create("name").await;
    let late = tokio::spawn(async move { client.call("later").await });
    app.wait_at_gate().await;
    // It would be a task by now.
    sleep(20 * LEASE).await;
    assert!(!late.is_finished(), "it is still a call");
    app.open_gate();
    let ended = late.await.expect("it ends");
    assert_eq!(ended.text(), ("later".to_owned(), false));
}

#[tokio::test(start_paused = true)]
async fn a_call_stays_a_call_if_the_store_fails() {
    let (shared, app) = (Shared::new(), App::default());
    let (node, way) = shared.faulty_node(&app);
    way.cut_off(&[Operation::Create, Operation::Load]);
    let mut client = ExtensionPeer::new(&node);
    let late = tokio::spawn(async move { client.call("later").await });
    app.wait_at_gate().await;
    sleep(20 * LEASE).await;
    app.open_gate();
    let ended = late.await.expect("it ends");
    assert_eq!(ended.text(), ("later".to_owned(), false));
}
