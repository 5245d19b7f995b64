//! Handles of tasks: they may be dropped, waited for again, and saved.

use std::time::Duration;

use bowline::{
    Client,
    client::{SavedTask, TaskHandle, TaskOrResult, TaskOutcome},
    model::TaskStatus,
};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::hostile::{completed, extension, open, task};
use crate::fake::Fake;

async fn start(client: &Client) -> TaskHandle {
    match client.tools().call("x", ()).as_task().await {
        Ok(TaskOrResult::Task(task)) => task,
        other => panic!("no task: {other:?}"),
    }
}

async fn client_of(fake: &Fake) -> Client {
    open(fake, Client::builder()).await
}

#[tokio::test(start_paused = true)]
async fn dropping_a_handle_or_its_futures_cancels_nothing() {
    let fake = extension(|asked| match asked {
        0..30 => Ok(task(json!({}))),
        _ => Ok(completed("done")),
    });
    let client = client_of(&fake).await;
    let mut task = start(&client).await;
    let waited = timeout(Duration::from_secs(1), task.wait()).await;
    assert!(waited.is_err());
    let result = task.wait().await.expect("a result");
    assert_eq!(result.all_text(), "done");
    drop(start(&client).await);
    client.ping().await.expect("it is alive");
    assert_eq!(fake.count("tasks/cancel"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_handle_whose_server_was_away_for_too_long_can_be_waited_for_again() {
    let fake = extension(|_| Ok(completed("done")));
    let client = client_of(&fake).await;
    let mut task = start(&client).await;
    fake.set_unreachable(true);
    fake.hang_up();
    let error = task.wait().await.expect_err("it is away");
    assert!(error.is_transient(), "{error}");
    fake.set_unreachable(false);
    let result = task.wait().await.expect("a result");
    assert_eq!(result.all_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn the_time_to_live_goes_on_while_a_task_is_saved() {
    let fake = extension(|_| Ok(task(json!({"ttlMs": 10_000}))));
    let client = client_of(&fake).await;
    let mut task = start(&client).await;
    task.refresh().await.expect("a state");
    let saved = serde_json::to_value(task.saved()).expect("JSON");
    assert_eq!(saved["taskId"], "t");
    assert_eq!(saved["status"], "working");
    assert!(saved["expiresAt"].is_u64(), "{saved}");
    let mut expired = saved.clone();
    expired["expiresAt"] = json!(1);
    let expired: SavedTask = serde_json::from_value(expired).expect("a task");
    let began = Instant::now();
    let mut task = client.tasks().resume(expired);
    let error = task.wait().await.expect_err("it has expired");
    assert!(error.is_timeout(), "{error}");
    assert!(began.elapsed() < Duration::from_secs(1), "after one look");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_returned_until_it_is_answered_and_not_again() {
    let schema = json!({"type": "object", "properties": {}});
    let form = json!({"message": "?", "requestedSchema": schema});
    let question = json!({"q": {"method": "elicitation/create", "params": form}});
    let asking = json!({"status": "input_required", "inputRequests": question});
    let fake = extension(move |asked| match asked {
        0..10 => Ok(task(asking.clone())),
        _ => Ok(completed("done")),
    });
    let client = client_of(&fake).await;
    let mut task = start(&client).await;
    for _ in 0..2 {
        let outcome = task.wait_for_input().await.expect("a question");
        assert!(matches!(&outcome, TaskOutcome::InputRequired(it) if it.contains_key("q")));
    }
    assert_eq!(*task.status(), TaskStatus::InputRequired);
    let saved = serde_json::to_string(&task.saved()).expect("JSON");
    let saved: SavedTask = serde_json::from_str(&saved).expect("a task");
    let mut task = client.tasks().resume(saved);
    let outcome = task.wait_for_input().await.expect("a question");
    assert!(
        matches!(outcome, TaskOutcome::InputRequired(_)),
        "it is open"
    );
    let declined = bowline::proto::jsonrpc::RawJson::encode(&json!({"action": "decline"}));
    let answers = [("q", declined.expect("JSON"))].into_iter().collect();
    task.answer(answers).await.expect("it is taken");
    let outcome = task.wait_for_input().await.expect("a result");
    assert!(matches!(outcome, TaskOutcome::Done(_)), "it was answered");
    assert_eq!(fake.count("tasks/update"), 1);
}
