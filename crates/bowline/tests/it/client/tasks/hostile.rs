//! Servers that lie about tasks, forget them, or never end them; in paused time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline::{
    Client, ErrorKind, Reason,
    client::ClientBuilder,
    model::{CallToolParams, ElicitResult},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fake::Fake;

/// A task, with changes.
pub(super) fn task(changes: Value) -> Value {
    let mut task = json!({
        "taskId": "t", "status": "working",
        "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
        "ttlMs": null, "ttl": null, "pollIntervalMs": 100, "pollInterval": 100,
    });
    if let Value::Object(changes) = changes {
        for (key, value) in changes {
            task[key] = value;
        }
    }
    task
}

pub(super) fn created(changes: Value) -> Value {
    let mut created = task(changes);
    created["resultType"] = json!("task");
    created
}

pub(super) fn completed(text: &str) -> Value {
    let result = json!({"content": [{"type": "text", "text": text}]});
    task(json!({"status": "completed", "result": result}))
}

fn unknown() -> Value {
    json!({"code": -32602, "message": "unknown task"})
}

/// A server of the extension. Calls become a task; the state is what the function says,
/// given how often it was asked for.
pub(super) fn extension(
    state: impl Fn(u64) -> Result<Value, Value> + Send + Sync + 'static,
) -> Fake {
    let asked = AtomicU64::new(0);
    let fake = Fake::new(move |method, _| match method {
        "tools/call" => Ok(created(json!({}))),
        "tasks/get" => state(asked.fetch_add(1, Ordering::Relaxed)),
        _ => Ok(json!({})),
    });
    fake.speak_modern();
    fake.offer_tasks();
    fake
}

pub(super) async fn open(fake: &Fake, builder: ClientBuilder) -> Client {
    let client = fake.connect(builder.seed(1));
    client
        .wait_ready(Duration::from_secs(5))
        .await
        .expect("a session");
    client
}

async fn client_of(fake: &Fake) -> Client {
    open(fake, Client::builder()).await
}

#[tokio::test(start_paused = true)]
async fn a_task_that_never_ends_is_given_up_and_cancelled() {
    let fake = extension(|_| Ok(task(json!({}))));
    let client = client_of(&fake).await;
    let began = Instant::now();
    let call = client.tools().call("x", ());
    let error = call
        .task_timeout(Duration::from_secs(90))
        .await
        .expect_err("it never ends");
    assert!(error.is_timeout(), "{error}");
    assert_eq!(began.elapsed(), Duration::from_secs(90));
    fake.seen("tasks/cancel", 1).await;
    let polls = fake.count("tasks/get");
    assert!(
        (850..=900).contains(&polls),
        "{polls} polls in 90 s, one each 100 ms"
    );
    // Without an option, an hour.
    let began = Instant::now();
    client
        .tools()
        .call("x", ())
        .await
        .expect_err("it never ends");
    assert_eq!(began.elapsed(), Duration::from_secs(3600));
}

#[tokio::test(start_paused = true)]
async fn a_task_is_not_waited_for_beyond_its_time_to_live() {
    let fake = extension(|_| Ok(task(json!({"ttlMs": 5000}))));
    let client = client_of(&fake).await;
    let began = Instant::now();
    let error = client.tools().call("x", ()).await.expect_err("it expired");
    assert_eq!(error.reason(), Reason::Timeout, "{error}");
    assert!(error.to_string().contains("time to live"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(6));
    fake.seen("tasks/cancel", 1).await;
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_its_task_once() {
    let fake = extension(|_| Ok(task(json!({}))));
    let client = client_of(&fake).await;
    let call = client.tools().call("x", ());
    let dropped = tokio::time::timeout(Duration::from_secs(1), call).await;
    assert!(dropped.is_err());
    fake.seen("tasks/cancel", 1).await;
    let signal = tokio::time::sleep(Duration::from_secs(1));
    let call = client.tools().call("x", ()).cancel_on(signal);
    let error = call.await.expect_err("it was cancelled");
    assert_eq!(error.reason(), Reason::Cancelled);
    fake.seen("tasks/cancel", 2).await;
    // A ping is answered after everything that was sent before it.
    client.ping().await.expect("it is alive");
    assert_eq!(fake.count("tasks/cancel"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_is_not_cancelled() {
    let fake = extension(|asked| match asked {
        0 => Ok(task(json!({}))),
        1 => Ok(completed("done")),
        2 => Ok(task(
            json!({"status": "failed", "error": {"code": -7, "message": "no"}}),
        )),
        3 => Ok(task(json!({"status": "cancelled"}))),
        _ => Err(unknown()),
    });
    let client = client_of(&fake).await;
    let result = client.tools().call("x", ()).await.expect("a result");
    assert_eq!(result.all_text(), "done");
    let error = client.tools().call("x", ()).await.expect_err("it failed");
    assert_eq!(error.code(), Some(-7));
    let error = client
        .tools()
        .call("x", ())
        .await
        .expect_err("it was cancelled");
    assert_eq!(error.reason(), Reason::Cancelled);
    let error = client
        .tools()
        .call("x", ())
        .await
        .expect_err("it was forgotten");
    assert_eq!(error.code(), Some(-32602));
    client.ping().await.expect("it is alive");
    assert_eq!(fake.count("tasks/cancel"), 0);
}

#[tokio::test(start_paused = true)]
async fn intervals_of_nothing_and_of_years_are_bounded() {
    for (interval, expected) in [(0, 20), (u64::MAX, 60_000)] {
        let fake = extension(move |asked| match asked {
            0 => Ok(task(json!({ "pollIntervalMs": interval }))),
            1 => Ok(completed("done")),
            _ => Err(unknown()),
        });
        let client = client_of(&fake).await;
        let began = Instant::now();
        client.tools().call("x", ()).await.expect("a result");
        let expected = Duration::from_millis(100 + expected);
        assert_eq!(began.elapsed().as_millis(), expected.as_millis());
    }
}

#[tokio::test(start_paused = true)]
async fn states_that_make_no_sense_are_protocol_errors() {
    for state in [
        completed("not yours").tap(|it| it["taskId"] = json!("u")),
        task(json!({"status": "completed"})),
        task(json!({"status": "failed"})),
        json!({"taskId": 7}),
        json!([]),
        task(json!({"status": "input_required", "inputRequests": {"q": {"method": "acme/x"}}})),
        task(json!({"status": "input_required", "inputRequests": 7})),
    ] {
        let fake = extension({
            let state = state.clone();
            move |_| Ok(state.clone())
        });
        let client = client_of(&fake).await;
        let error = client.tools().call("x", ()).await.expect_err("nonsense");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{state}: {error}");
    }
}

trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Tap for Value {}

#[tokio::test(start_paused = true)]
async fn an_unknown_status_is_waited_out() {
    let fake = extension(|asked| match asked {
        0..3 => Ok(task(json!({"status": "meditating"}))),
        _ => Ok(completed("done")),
    });
    let client = client_of(&fake).await;
    let result = client.tools().call("x", ()).await.expect("a result");
    assert_eq!(result.all_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_no_answer_to_other_requests() {
    let fake = Fake::new(|_, _| Ok(created(json!({}))));
    fake.speak_modern();
    fake.offer_tasks();
    let client = client_of(&fake).await;
    let read = client.resources().read("a:b").await.expect_err("a task");
    assert_eq!(read.reason(), Reason::InvalidResponse, "{read}");
    let typed = client.request(CallToolParams::new("x")).await;
    let typed = typed.expect_err("it was not offered");
    assert_eq!(typed.reason(), Reason::InvalidResponse, "{typed}");
}

#[tokio::test(start_paused = true)]
async fn each_question_is_asked_once_however_often_it_is_repeated() {
    let asked = Arc::new(AtomicU64::new(0));
    let counting = {
        let asked = Arc::clone(&asked);
        move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            async { ElicitResult::decline() }
        }
    };
    let question = || {
        let schema = json!({"type": "object", "properties": {}});
        json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}})
    };
    let fake = extension(move |asked| match asked {
        0..20 => Ok(task(
            json!({"status": "input_required", "inputRequests": {"q": question()}}),
        )),
        _ => Ok(completed("done")),
    });
    let client = open(&fake, Client::builder().on_elicit(counting)).await;
    client.tools().call("x", ()).await.expect("a result");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(fake.count("tasks/update"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_forever_is_given_up() {
    let fake = extension(|asked| {
        let schema = json!({"type": "object", "properties": {}});
        let question = json!({"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}});
        Ok(task(
            json!({"status": "input_required", "inputRequests": {format!("q{asked}"): question}}),
        ))
    });
    let builder = Client::builder().on_elicit(async |_| ElicitResult::decline());
    let client = open(&fake, builder).await;
    let error = client.tools().call("x", ()).await.expect_err("too many");
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert_eq!(fake.count("tasks/update"), 32);
    fake.seen("tasks/cancel", 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_waited_for() {
    let fake = extension(|asked| match asked {
        0..30 => Ok(task(json!({}))),
        _ => Ok(completed("done")),
    });
    let client = client_of(&fake).await;
    let calls = async { client.tools().call("x", ()).await };
    let trouble = async {
        fake.seen("tasks/get", 5).await;
        fake.set_unreachable(true);
        fake.hang_up();
        tokio::time::timeout(Duration::from_secs(60), std::future::pending::<()>())
            .await
            .expect_err("a minute passes");
        fake.set_unreachable(false);
        fake.seen("tasks/get", 12).await;
        fake.hold("tasks/get");
        fake.seen("tasks/get", 13).await;
        fake.hang_up();
        fake.release();
    };
    let (result, ()) = tokio::join!(calls, trouble);
    assert_eq!(result.expect("a result").all_text(), "done");
    assert_eq!(fake.count("tools/call"), 1, "the call is not made again");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_client_ends_its_calls() {
    let fake = extension(|_| Ok(task(json!({}))));
    let client = client_of(&fake).await;
    let calls = async { client.tools().call("x", ()).await };
    let stopping = async {
        fake.seen("tasks/get", 2).await;
        client.stop().await;
    };
    let (result, ()) = tokio::join!(calls, stopping);
    let error = result.expect_err("it was stopped");
    assert_eq!(error.reason(), Reason::Shutdown, "{error}");
}

/// A server of the core. All tools must be called as tasks.
fn core(state: impl Fn(u64) -> Value + Send + Sync + 'static) -> Fake {
    let asked = AtomicU64::new(0);
    let fake = Fake::new(move |method, params| match method {
        "tools/list" => {
            let execution = json!({"taskSupport": "required"});
            let tool =
                json!({"name": "x", "inputSchema": {"type": "object"}, "execution": execution});
            Ok(json!({"tools": [tool]}))
        }
        "tools/call" if params["task"].is_object() => Ok(json!({"task": task(json!({}))})),
        "tools/call" => Err(json!({"code": -32601, "message": "as a task, please"})),
        "tasks/get" => Ok(state(asked.fetch_add(1, Ordering::Relaxed))),
        "tasks/result" => Ok(json!({"content": [{"type": "text", "text": "fetched"}]})),
        _ => Ok(json!({})),
    });
    fake.offer_tasks();
    fake
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_lost_is_fetched_again() {
    let fake = core(|asked| match asked {
        0 => task(json!({})),
        _ => task(json!({"status": "completed"})),
    });
    let client = client_of(&fake).await;
    fake.hold("tasks/result");
    let calls = async { client.tools().call("x", ()).await };
    let trouble = async {
        fake.seen("tasks/result", 1).await;
        fake.hang_up();
        // Sent again by the connection, then not answered in time.
        fake.seen("tasks/result", 3).await;
        fake.release();
    };
    let (result, ()) = tokio::join!(calls, trouble);
    assert_eq!(result.expect("a result").all_text(), "fetched");
    assert_eq!(fake.count("tools/call"), 1);
    assert_eq!(fake.count("tools/list"), 1, "once, before the call");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_before_its_task_is_known_leaves_none_behind() {
    let fake = core(|_| task(json!({})));
    let client = client_of(&fake).await;
    fake.hold("tools/call");
    let call = client.tools().call("x", ());
    let dropped = tokio::time::timeout(Duration::from_secs(1), call).await;
    assert!(dropped.is_err());
    assert_eq!(fake.count("notifications/cancelled"), 0);
    fake.release();
    fake.seen("tasks/cancel", 1).await;
}
