//! Notifications of changed tasks shorten the wait.

use std::time::Duration;

use bowline::Client;
use serde_json::json;
use tokio::time::Instant;

use super::hostile::{completed, extension, open, task};

#[tokio::test(start_paused = true)]
async fn a_task_that_is_said_to_have_changed_is_asked_for_at_once() {
    let slow = json!({"pollIntervalMs": 60_000});
    let fake = extension(move |asked| match asked {
        0 => Ok(task(slow.clone())),
        _ => Ok(completed("done")),
    });
    let client = open(&fake, Client::builder()).await;
    let calls = async { client.tools().call("x", ()).await };
    let began = Instant::now();
    let changing = async {
        fake.seen("subscriptions/listen", 1).await;
        fake.notify("notifications/tasks", &task(json!({"taskId": "another"})));
        fake.notify("notifications/tasks", &json!({"taskId": 7}));
        fake.notify("notifications/tasks", &task(json!({})));
    };
    let (result, ()) = tokio::join!(calls, changing);
    assert_eq!(result.expect("a result").all_text(), "done");
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    // The stream is not needed any more.
    fake.seen("notifications/cancelled", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_notifications_is_no_flood_of_requests() {
    let fake = extension(|_| Ok(task(json!({}))));
    let client = open(&fake, Client::builder()).await;
    let call = client.tools().call("x", ());
    let call = async { call.task_timeout(Duration::from_secs(10)).await };
    let flooding = async {
        for _ in 0..1000 {
            fake.notify("notifications/tasks", &task(json!({})));
            let pause =
                tokio::time::timeout(Duration::from_millis(10), std::future::pending::<()>());
            pause.await.expect_err("a moment passes");
        }
    };
    let (result, ()) = tokio::join!(call, flooding);
    assert!(result.expect_err("it never ends").is_timeout());
    let polls = fake.count("tasks/get");
    assert!(polls <= 500, "{polls} polls in 10 s, at least 20 ms apart");
}
