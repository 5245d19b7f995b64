//! Calls that become tasks: who says that they may, and what is done about them.

use bowline_proto::{
    client::{
        CallId, CallOptions, Cancellation, Failure, HttpStatusError, Outcome, SendError, TaskMode,
    },
    task::{Dialect, TaskInfo},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    look::millis,
    rig::{Rig, over_http, server_capabilities},
};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn with_task(task: TaskMode) -> CallOptions {
    CallOptions {
        task,
        ..CallOptions::default()
    }
}

fn accepting() -> CallOptions {
    with_task(TaskMode::Accept)
}

fn requesting() -> CallOptions {
    let ttl = Some(millis(5000));
    with_task(TaskMode::Request { ttl })
}

fn call(rig: &mut Rig, tool: &str, options: CallOptions) -> CallId {
    rig.call_with("tools/call", json!({"name": tool}), options)
}

/// The extensions that the last request declares.
fn declared(rig: &Rig) -> Value {
    let meta = &rig.last_sent().json["params"]["_meta"];
    meta[CAPABILITIES]["extensions"].clone()
}

fn created(id: &str) -> Value {
    json!({
        "resultType": "task", "taskId": id, "status": "working",
        "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
        "ttlMs": null,
    })
}

fn core_created(id: &str) -> Value {
    let task = json!({
        "taskId": id, "status": "working", "ttl": null,
        "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
    });
    json!({ "task": task })
}

/// A session with a server that runs calls as tasks if the client says so.
fn core_rig() -> Rig {
    core_rig_with(|_| {})
}

fn core_rig_with(adjust: impl FnOnce(&mut bowline_proto::client::Config)) -> Rig {
    let mut rig = Rig::with(adjust).started();
    open_core(&mut rig);
    rig.forget();
    rig
}

fn open_core(rig: &mut Rig) {
    rig.up();
    if rig.last_sent().method() == "server/discover" {
        rig.answer_error(-32601, "no such method");
    }
    let mut capabilities = server_capabilities();
    capabilities["tasks"] = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
    rig.accept(capabilities);
}

/// The server's tools: one for each thing that a tool can say about tasks.
fn tools() -> Value {
    let tool = |name: &str, support: Option<&str>| {
        let mut tool = json!({"name": name, "inputSchema": {"type": "object"}});
        if let Some(support) = support {
            tool["execution"] = json!({ "taskSupport": support });
        }
        tool
    };
    json!({"tools": [
        tool("silent", None),
        tool("forbidden", Some("forbidden")),
        tool("optional", Some("optional")),
        tool("required", Some("required")),
        tool("odd", Some("sometimes")),
    ]})
}

#[test]
fn only_calls_that_can_be_answered_with_a_task_say_so() {
    let mut rig = Rig::stateless();
    let tasks = json!({"io.modelcontextprotocol/tasks": {}});
    for (options, expected) in [
        (CallOptions::default(), Value::Null),
        (accepting(), tasks.clone()),
        (requesting(), tasks.clone()),
    ] {
        call(&mut rig, "x", options.clone());
        assert_eq!(declared(&rig), expected, "{options:?}");
        assert!(rig.last_sent().json["params"].get("task").is_none());
        rig.call_with("resources/read", json!({"uri": "a:b"}), options);
        assert_eq!(declared(&rig), Value::Null);
    }
    let unchecked = CallOptions {
        check_capabilities: false,
        ..CallOptions::default()
    };
    rig.call_with("tasks/get", json!({"taskId": "t"}), unchecked);
    assert_eq!(declared(&rig), tasks);
}

#[test]
fn other_extensions_stay_declared() {
    let mut rig = Rig::stateless_with(|config| {
        config.capabilities.declare_extension("com.example/x");
        config.log_level = Some(bowline_proto::model::LogLevel::Error);
    });
    call(&mut rig, "x", accepting());
    let expected = json!({"com.example/x": {}, "io.modelcontextprotocol/tasks": {}});
    assert_eq!(declared(&rig), expected);
    let meta = &rig.last_sent().json["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "error");
}

#[test]
fn a_task_is_a_result_of_tool_calls_that_accept_one_and_of_nothing_else() {
    let mut rig = Rig::stateless();
    let accepted = call(&mut rig, "x", accepting());
    rig.answer(created("t"));
    let Outcome::Result(result) = rig.outcome(accepted) else {
        panic!("no task");
    };
    let task = TaskInfo::from_create_result(Dialect::Extension, result).expect("a task");
    assert_eq!(&*task.id, "t");

    let refused = call(&mut rig, "x", CallOptions::default());
    rig.answer(created("t"));
    let read = rig.call_with("resources/read", json!({"uri": "a:b"}), accepting());
    rig.answer(created("t"));
    let got = rig.call_with("prompts/get", json!({"name": "x"}), accepting());
    rig.answer(created("t"));
    for call in [refused, read, got] {
        let failure = rig.failure(call);
        assert!(
            matches!(failure, Failure::InvalidResponse { .. }),
            "{failure:?}"
        );
    }
}

#[test]
fn the_tool_list_decides_which_calls_ask_for_a_task() {
    for (tool, accepted, requested) in [
        ("silent", false, false),
        ("unlisted", false, false),
        ("forbidden", false, false),
        ("odd", false, false),
        ("optional", false, true),
        ("required", true, true),
    ] {
        let mut rig = core_rig();
        let first = call(&mut rig, tool, accepting());
        assert_eq!(rig.methods_sent(), ["tools/list"], "before the first call");
        rig.answer(tools());
        assert_eq!(rig.methods_sent(), ["tools/list", "tools/call"]);
        let task = rig.last_sent().json["params"].get("task");
        assert_eq!(task, accepted.then_some(&json!({})), "{tool}");
        rig.answer(json!({"content": []}));
        assert!(rig.has_ended(first));

        call(&mut rig, tool, requesting());
        let task = rig.last_sent().json["params"].get("task");
        assert_eq!(task, requested.then_some(&json!({"ttl": 5000})), "{tool}");
        call(&mut rig, tool, CallOptions::default());
        assert!(rig.last_sent().json["params"].get("task").is_none());
        assert_eq!(rig.sent_as("tools/list").len(), 1, "once");
    }
}

#[test]
fn calls_share_one_tool_list_of_several_pages() {
    let mut rig = core_rig();
    let calls = ["optional", "required", "silent"].map(|tool| call(&mut rig, tool, accepting()));
    assert_eq!(rig.methods_sent(), ["tools/list"]);
    rig.answer(json!({"tools": [], "nextCursor": "2"}));
    assert_eq!(rig.last_sent().json["params"]["cursor"], "2");
    rig.answer(tools());
    assert_eq!(rig.sent_as("tools/call").len(), 3);
    let ids: Vec<u64> = rig
        .sent_as("tools/call")
        .iter()
        .filter_map(|it| it.id)
        .collect();
    for (call, id) in calls.into_iter().zip(ids) {
        rig.answer_to(id, json!({"content": []}));
        assert!(rig.has_ended(call));
    }
    rig.assert_no_calls();
}

#[test]
fn a_list_that_changes_is_read_again_and_one_that_the_caller_read_is_used() {
    let mut rig = core_rig();
    rig.call_with("tools/list", json!({}), CallOptions::default());
    rig.answer(tools());
    rig.forget();
    call(&mut rig, "required", accepting());
    assert_eq!(rig.methods_sent(), ["tools/call"]);
    rig.notified("notifications/tools/list_changed", json!({}));
    rig.forget();
    call(&mut rig, "required", accepting());
    assert_eq!(rig.methods_sent(), ["tools/list"]);
}

#[test]
fn a_list_that_cannot_be_had_does_not_stop_calls() {
    let mut rig = core_rig();
    let first = call(&mut rig, "required", accepting());
    rig.answer_error(-32603, "not now");
    rig.pass_ms(0);
    assert_eq!(rig.last_sent().method(), "tools/call");
    rig.answer(json!({"content": []}));
    assert!(rig.has_ended(first));
    call(&mut rig, "required", accepting());
    assert_eq!(
        rig.sent_as("tools/list").len(),
        1,
        "not again in this session"
    );
    // Nor does a server that never answers it.
    let mut rig = core_rig();
    let mut patient = accepting();
    patient.timeout = Some(millis(90_000));
    let call = call(&mut rig, "required", patient);
    rig.pass_ms(40_000);
    assert_eq!(rig.sent_as("tools/call").len(), 1);
    rig.answer(json!({"content": []}));
    assert!(rig.has_ended(call));
}

#[test]
fn a_call_that_waits_for_the_list_ends_like_any_other() {
    let mut rig = core_rig();
    let cancelled = call(&mut rig, "required", accepting());
    let timed_out = call(&mut rig, "required", accepting());
    rig.cancel(cancelled, Cancellation::Dropped);
    assert!(matches!(rig.failure(cancelled), Failure::Cancelled));
    rig.pass_ms(31_000);
    assert!(matches!(rig.failure(timed_out), Failure::Timeout { .. }));
    assert!(rig.sent_as("tools/call").is_empty());
    rig.assert_no_calls();
}

#[test]
fn a_call_that_waits_for_the_list_is_made_in_the_next_session() {
    let mut rig = core_rig();
    let mut patient = accepting();
    patient.policy = bowline_proto::client::CallPolicy::WaitForConnection;
    let call = call(&mut rig, "required", patient);
    rig.down();
    rig.redial();
    open_core(&mut rig);
    assert_eq!(rig.last_sent().method(), "tools/list");
    rig.answer(tools());
    assert_eq!(rig.last_sent().json["params"]["task"], json!({}));
    rig.answer(core_created("t"));
    assert!(rig.has_ended(call));
}

#[test]
fn no_cancellation_is_sent_for_a_call_that_asks_for_a_task() {
    for adjust in [|_: &mut _| {}, over_http] {
        let mut rig = core_rig_with(adjust);
        let dropped = call(&mut rig, "required", accepting());
        rig.answer(tools());
        let id = rig.last_request();
        rig.cancel(dropped, Cancellation::Dropped);
        assert!(matches!(rig.failure(dropped), Failure::Cancelled));
        assert!(rig.sent_as("notifications/cancelled").is_empty());
        assert!(rig.aborts.is_empty(), "its response is still of use");
        // The task that it became is cancelled once it is known, and only once.
        rig.answer_to(id, core_created("t9"));
        let cancel = rig.last_sent();
        assert_eq!(cancel.method(), "tasks/cancel");
        assert_eq!(cancel.json["params"]["taskId"], "t9");
        rig.answer_error(-32602, "it has ended");
        assert_eq!(rig.sent_as("tasks/cancel").len(), 1);
        rig.assert_no_calls();
    }
}

#[test]
fn a_late_task_of_the_extension_is_cancelled_and_a_late_result_is_not() {
    let mut rig = Rig::stateless();
    for (result, expected) in [
        (created("late"), 1),
        (json!({"resultType": "complete", "content": []}), 1),
        (json!({"resultType": "task"}), 1),
    ] {
        let dropped = call(&mut rig, "x", accepting());
        let id = rig.last_request();
        rig.cancel(dropped, Cancellation::Dropped);
        assert_eq!(rig.last_sent().method(), "notifications/cancelled");
        rig.answer_to(id, result);
        assert_eq!(rig.sent_as("tasks/cancel").len(), expected);
    }
    // A task that nobody asked for is not ours.
    rig.answer_to(9999, created("foreign"));
    assert_eq!(rig.sent_as("tasks/cancel").len(), 1);
}

#[test]
fn a_task_is_cancelled_in_the_next_session_if_need_be() {
    let mut rig = core_rig_with(over_http);
    rig.act(|connection, now| connection.cancel_task(now, "t"));
    let lost = HttpStatusError {
        status: 404,
        body: Bytes::new(),
        retry_after: None,
    };
    rig.refuse(rig.last_request(), SendError::Status(lost));
    rig.redial();
    open_core(&mut rig);
    assert_eq!(
        rig.sent_as("tasks/cancel").len(),
        2,
        "again in the new session"
    );
    rig.answer(core_created("t")["task"].clone());
    assert!(rig.done.is_empty(), "nobody waits for it");
    rig.assert_no_calls();
    rig.stop();
    rig.act(|connection, now| connection.cancel_task(now, "t"));
    assert!(rig.done.is_empty());
}

#[test]
fn a_cancellation_that_is_never_answered_is_forgotten() {
    let mut rig = Rig::stateless();
    rig.act(|connection, now| connection.cancel_task(now, "t"));
    rig.pass_ms(31_000);
    rig.assert_no_calls();
}

#[test]
fn requests_about_tasks_need_what_the_server_declared() {
    let mut rig = core_rig();
    for (method, capability) in [
        ("tasks/list", Some("tasks.list")),
        ("tasks/get", None),
        ("tasks/cancel", None),
        ("tasks/result", None),
    ] {
        let call = rig.call_with(method, json!({"taskId": "t"}), CallOptions::default());
        match capability {
            Some(capability) => {
                let expected = Failure::CapabilityNotSupported { capability };
                assert_eq!(rig.failure(call), &expected);
            }
            None => assert_eq!(rig.last_sent().method(), method),
        }
    }
    let mut rig = Rig::stateless();
    let call = rig.call_with("tasks/get", json!({"taskId": "t"}), CallOptions::default());
    let capability = "io.modelcontextprotocol/tasks";
    assert_eq!(
        rig.failure(call),
        &Failure::CapabilityNotSupported { capability }
    );
    let call = rig.call_with("tasks/list", json!({}), CallOptions::default());
    assert!(matches!(rig.failure(call), Failure::NoSuchMethod { .. }));
}

#[test]
fn questions_asked_while_a_result_is_awaited_extend_its_deadline() {
    let mut rig = core_rig_with(|config| {
        config.capabilities.elicitation = Some(Default::default());
    });
    let call = rig.call_with(
        "tasks/result",
        json!({"taskId": "t"}),
        CallOptions::default(),
    );
    let schema = json!({"type": "object", "properties": {}});
    let params = json!({"message": "?", "requestedSchema": schema});
    let question =
        json!({"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": params});
    rig.frame(&question);
    rig.pass_ms(60_000);
    assert!(!rig.has_ended(call), "a person takes longer than a server");
}

#[test]
fn a_watched_task_is_subscribed_to_and_a_refusal_costs_nothing_else() {
    let mut rig = Rig::stateless();
    rig.act(|connection, now| connection.watch_task(now, "t"));
    let listen = rig.last_sent();
    assert_eq!(listen.method(), "subscriptions/listen");
    assert_eq!(
        listen.json["params"]["notifications"],
        json!({"taskIds": ["t"]})
    );
    assert_eq!(declared(&rig), json!({"io.modelcontextprotocol/tasks": {}}));
    rig.act(|connection, now| connection.watch_task(now, "t"));
    assert_eq!(rig.sent.len(), 1, "once");
    // The server refuses it; a resource is still subscribed to.
    rig.answer_error(-32602, "no taskIds");
    let subscribed = super::subscriptions::subscribe(&mut rig, "a:b");
    let filter = &rig.last_sent().json["params"]["notifications"];
    assert_eq!(*filter, json!({"resourceSubscriptions": ["a:b"]}));
    let stream = rig.last_request();
    let meta = json!({"io.modelcontextprotocol/subscriptionId": stream});
    let granted = json!({"_meta": meta, "notifications": {"resourceSubscriptions": ["a:b"]}});
    rig.notified("notifications/subscriptions/acknowledged", granted);
    assert!(rig.has_ended(subscribed));
    rig.forget();
    rig.act(|connection, now| connection.unwatch_task(now, "t"));
    rig.pass_ms(120_000);
    assert!(rig.sent_as("subscriptions/listen").is_empty());
}
