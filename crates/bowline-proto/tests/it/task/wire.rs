//! What the other side sees of a task, in both dialects.

use std::time::Duration;

use bowline_proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::{Adapt, InputRequests, InputResponses, meta::key},
    revision::Revision,
    task::{AnswerOutcome, Task, Timestamp},
};
use serde::Serialize;
use serde_json::{Value, json};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix_millis(seconds * 1000)
}

fn task() -> Task {
    let (ttl, poll) = (Duration::from_secs(60), Duration::from_secs(1));
    Task::new("t1", at(0), Some(ttl), poll)
}

fn raw(value: &Value) -> RawJson {
    RawJson::encode(value).expect("it is JSON")
}

fn questions(keys: &[&str]) -> InputRequests {
    let questions = keys
        .iter()
        .map(|key| (*key, json!({"method": "roots/list"})));
    let questions: serde_json::Map<_, _> = questions.map(|(k, v)| (k.to_owned(), v)).collect();
    serde_json::from_value(questions.into()).expect("they are questions")
}

fn answers(keys: &[&str]) -> InputResponses {
    let mut answers = InputResponses::new();
    for key in keys {
        answers.insert((*key).to_owned(), raw(&json!({"roots": []})));
    }
    answers
}

/// Returns a message as the extension sends it.
fn extension(message: impl Adapt + Serialize) -> Value {
    encode(message, Revision::V2026_07_28)
}

/// Returns a message as the core sends it.
fn core(message: impl Adapt + Serialize) -> Value {
    encode(message, Revision::V2025_11_25)
}

fn encode(mut message: impl Adapt + Serialize, revision: Revision) -> Value {
    message.adapt(&revision.rules().features);
    serde_json::to_value(message).expect("it is JSON")
}

#[test]
fn a_new_task_is_flat_in_the_extension_and_nested_in_the_core() {
    let task = task();
    assert_eq!(
        extension(task.to_create_result()),
        json!({
            "resultType": "task", "taskId": "t1", "status": "working",
            "createdAt": "1970-01-01T00:00:00.000Z",
            "lastUpdatedAt": "1970-01-01T00:00:00.000Z",
            "ttlMs": 60000, "pollIntervalMs": 1000,
        })
    );
    assert_eq!(
        core(task.to_core_create_result()),
        json!({"task": {
            "taskId": "t1", "status": "working",
            "createdAt": "1970-01-01T00:00:00.000Z",
            "lastUpdatedAt": "1970-01-01T00:00:00.000Z",
            "ttl": 60000, "pollInterval": 1000,
        }})
    );
}

#[test]
fn a_task_that_is_kept_forever_says_so() {
    let task = Task::new("t1", at(0), None, Duration::from_secs(1));
    assert_eq!(extension(task.to_get_result())["ttlMs"], Value::Null);
    assert_eq!(core(task.to_core_task())["ttl"], Value::Null);
    assert!(!task.is_expired(at(u64::MAX / 1000)));
}

#[test]
fn questions_disappear_one_by_one() {
    let mut task = task();
    assert!(task.ask(at(1), questions(&["a", "b"])));
    let seen = extension(task.to_get_result());
    assert_eq!(seen["status"], "input_required");
    assert_eq!(
        seen["inputRequests"],
        json!({"a": {"method": "roots/list"}, "b": {"method": "roots/list"}})
    );
    assert_eq!(
        task.answer(at(2), &answers(&["a", "x"])),
        AnswerOutcome::Partial
    );
    let seen = extension(task.to_get_result());
    assert_eq!(
        seen["inputRequests"],
        json!({"b": {"method": "roots/list"}})
    );
    assert_eq!(seen["status"], "input_required");
    assert_eq!(task.resume(at(3)), None);
    assert_eq!(task.answer(at(3), &answers(&["a"])), AnswerOutcome::Ignored);
    assert_eq!(
        task.answer(at(3), &answers(&["b"])),
        AnswerOutcome::Complete
    );
    let seen = extension(task.to_get_result());
    assert_eq!(
        (seen["status"].clone(), seen.get("inputRequests")),
        (json!("working"), None)
    );
    assert_eq!(task.resume(at(4)), Some(answers(&["a", "b"])));
    assert_eq!(task.resume(at(4)), None);
}

#[test]
fn a_tool_that_fails_completes_in_the_extension_and_fails_in_the_core() {
    let mut task = task();
    let result = json!({"content": [], "isError": true});
    assert!(task.complete(at(1), raw(&result), true));
    let seen = extension(task.to_get_result());
    assert_eq!(
        (&seen["status"], &seen["result"]),
        (&json!("completed"), &result)
    );
    assert_eq!(core(task.to_core_task())["status"], "failed");
    let payload = task
        .to_core_payload()
        .expect("it has ended")
        .expect("a result");
    let mut expected = result;
    expected["_meta"] = json!({key::RELATED_TASK: {"taskId": "t1"}});
    assert_eq!(core(payload), expected);
}

#[test]
fn an_error_is_told_in_the_status_too() {
    let mut task = task();
    let error = ErrorObject::new(-32603, "out of paper");
    assert!(task.fail(at(1), error.clone()));
    let seen = extension(task.to_get_result());
    assert_eq!(seen["status"], "failed");
    assert_eq!(seen["statusMessage"], "out of paper");
    assert_eq!(
        seen["error"],
        json!({"code": -32603, "message": "out of paper"})
    );
    assert_eq!(seen.get("result"), None);
    assert_eq!(task.to_core_payload(), Some(Err(error)));
}

#[test]
fn a_cancelled_task_has_no_result() {
    let mut task = task();
    assert!(task.cancel(at(1)) && !task.cancel(at(2)));
    assert_eq!(core(task.to_core_task())["status"], "cancelled");
    assert!(matches!(task.to_core_payload(), Some(Err(_))));
    let changed = extension(task.to_changed_params());
    assert_eq!(changed["status"], "cancelled");
    assert_eq!(changed["lastUpdatedAt"], "1970-01-01T00:00:01.000Z");
}
