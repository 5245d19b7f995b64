//! Tasks of the core, in revision 2025-11-25.

use serde_json::{Value, json};

use super::rig::{App, CorePeer, service};

const RELATED: &str = "io.modelcontextprotocol/related-task";

async fn status(client: &mut CorePeer, id: &str) -> Value {
    let task = client.ask("tasks/get", &json!({"taskId": id})).await;
    task["result"]["status"].clone()
}

#[tokio::test(start_paused = true)]
async fn the_client_decides_and_waits_for_the_result() {
    let mut client = CorePeer::new(&service(&App::default())).await;
    let plain = client
        .ask("tools/call", &json!({"name": "hello", "arguments": {}}))
        .await;
    assert_eq!(plain["result"]["content"][0]["text"], "Hello!");
    let id = client.create("hello").await;
    let result = client.ask("tasks/result", &json!({"taskId": id})).await;
    assert_eq!(result["result"]["content"][0]["text"], "Hello!");
    assert_eq!(result["result"]["_meta"][RELATED], json!({"taskId": id}));
    assert_eq!(status(&mut client, &id).await, "completed");
}

#[tokio::test(start_paused = true)]
async fn tools_say_whether_they_can_be_tasks() {
    let mut client = CorePeer::new(&service(&App::default())).await;
    let tools = client.ask("tools/list", &json!({})).await;
    let tools = tools["result"]["tools"].as_array().expect("tools").clone();
    let support = |name: &str| {
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("a tool");
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(
        (support("hello"), support("fails")),
        (json!("optional"), json!("required"))
    );
    assert_eq!(support("plain"), Value::Null);
    let without = client
        .ask("tools/call", &json!({"name": "fails", "arguments": {}}))
        .await;
    assert_eq!(without["error"]["code"], -32601);
    let with = client.call("plain").await;
    assert_eq!(with["error"]["code"], -32601);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_fails_its_task_and_has_a_result() {
    let mut client = CorePeer::new(&service(&App::default())).await;
    let id = client.create("fails").await;
    let result = client.ask("tasks/result", &json!({"taskId": id})).await;
    assert_eq!(result["result"]["isError"], true);
    assert_eq!(status(&mut client, &id).await, "failed");
}

#[tokio::test(start_paused = true)]
async fn questions_come_while_the_client_waits_for_the_result() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    while status(&mut client, &id).await != "input_required" {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let waiting = client.request("tasks/result", &json!({"taskId": id})).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["_meta"][RELATED], json!({"taskId": id}));
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
        .await;
    let result = client.answer(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(app.effects(), ["Ada"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_gives_up_waiting_may_wait_again() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    let first = client.request("tasks/result", &json!({"taskId": id})).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    cancel(&mut client, first).await;
    let second = client.request("tasks/result", &json!({"taskId": id})).await;
    let again = loop {
        let frame = client.receive().await;
        if frame["method"] == "elicitation/create" {
            break frame;
        }
    };
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client
        .send(&json!({"jsonrpc": "2.0", "id": again["id"], "result": answer}))
        .await;
    let result = client.answer(second).await;
    assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
}

/// Receives until a question of the task comes.
async fn question(client: &mut CorePeer) -> Value {
    loop {
        let frame = client.receive().await;
        if frame["method"] == "elicitation/create" {
            return frame;
        }
        client.arrived.push(frame);
    }
}

async fn answer(client: &mut CorePeer, question: &Value) {
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
        .await;
}

async fn cancel(client: &mut CorePeer, request: u64) {
    let params = json!({"requestId": request});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.send(&cancelled).await;
}

/// The connection of the older request may be gone, with its question.
#[tokio::test(start_paused = true)]
async fn the_newest_request_that_waits_takes_over_the_questions() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    let first = client.request("tasks/result", &json!({"taskId": id})).await;
    let unseen = question(&mut client).await;
    let second = client.request("tasks/result", &json!({"taskId": id})).await;
    let again = question(&mut client).await;
    assert_ne!(unseen["id"], again["id"]);
    answer(&mut client, &again).await;
    for waiting in [first, second] {
        // In either order.
        let is_its = |it: &Value| it["id"] == waiting && it.get("method").is_none();
        let arrived = client.arrived.iter().position(is_its);
        let result = match arrived {
            Some(at) => client.arrived.remove(at),
            None => client.answer(waiting).await,
        };
        assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
    }
    let is_withdrawal = |it: &&Value| it["method"] == "notifications/cancelled";
    let withdrawn: Vec<_> = client.arrived.iter().filter(is_withdrawal).collect();
    let withdrawn: Vec<_> = withdrawn
        .iter()
        .map(|it| &it["params"]["requestId"])
        .collect();
    assert_eq!(withdrawn, [&unseen["id"]], "only the older question");
    assert_eq!(app.effects(), ["Ada"]);
}

#[tokio::test(start_paused = true)]
async fn questions_that_were_taken_over_outlive_the_older_request() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    let first = client.request("tasks/result", &json!({"taskId": id})).await;
    question(&mut client).await;
    let second = client.request("tasks/result", &json!({"taskId": id})).await;
    let asked = question(&mut client).await;
    cancel(&mut client, first).await;
    answer(&mut client, &asked).await;
    let result = client.answer(second).await;
    assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test(start_paused = true)]
async fn an_older_request_asks_again_when_the_newest_has_left() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    let first = client.request("tasks/result", &json!({"taskId": id})).await;
    question(&mut client).await;
    let second = client.request("tasks/result", &json!({"taskId": id})).await;
    question(&mut client).await;
    cancel(&mut client, second).await;
    let asked = question(&mut client).await;
    answer(&mut client, &asked).await;
    let result = client.answer(first).await;
    assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_client_refuses_fails_the_task() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let id = client.create("name").await;
    let waiting = client.request("tasks/result", &json!({"taskId": id})).await;
    let question = client.receive().await;
    let error = json!({"code": -32000, "message": "nobody is here"});
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}))
        .await;
    let result = client.answer(waiting).await;
    assert_eq!(result["error"], error);
    assert_eq!(status(&mut client, &id).await, "failed");
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listed_and_cancelled() {
    let app = App::default();
    let mut client = CorePeer::new(&service(&app)).await;
    let mut ids = vec![client.create("name").await, client.create("steps").await];
    let cancelled = client.ask("tasks/cancel", &json!({"taskId": ids[0]})).await;
    assert_eq!(cancelled["result"]["status"], "cancelled");
    let again = client.ask("tasks/cancel", &json!({"taskId": ids[0]})).await;
    assert_eq!(again["error"]["code"], -32602);
    let result = client.ask("tasks/result", &json!({"taskId": ids[0]})).await;
    assert_eq!(result["error"]["message"], "The task was cancelled");
    let listed = client.ask("tasks/list", &json!({})).await;
    let listed = listed["result"]["tasks"].as_array().expect("tasks").clone();
    let listed: Vec<_> = listed
        .iter()
        .map(|it| it["taskId"].as_str().expect("an id"))
        .collect();
    ids.sort();
    assert_eq!(listed, ids);
    let bad = client.ask("tasks/list", &json!({"cursor": "../x"})).await;
    assert_eq!(bad["error"]["code"], -32602);
    let unknown = client.ask("tasks/result", &json!({"taskId": "x"})).await;
    assert_eq!(unknown["error"]["code"], -32602);
}
