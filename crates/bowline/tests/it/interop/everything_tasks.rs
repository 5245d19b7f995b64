//! `@modelcontextprotocol/server-everything`: calls that run as tasks, which
//! were a part of the core protocol for one revision.

use bowline::client::TaskOrResult;
use bowline::proto::{
    Reason,
    jsonrpc::RawJson,
    model::{
        CallToolParams, CancelCoreTaskParams, CoreTask, CoreTaskResultParams, ElicitParams,
        ElicitResult, GetCoreTaskParams, ListCoreTasksParams, TaskMetadata, TaskStatus,
    },
};
use serde_json::{Value, json};

use super::rig::{Checked, Fault, Peer, builder, node, within};

async fn research(peer: &Peer, arguments: Value) -> Result<CoreTask, Fault> {
    let mut params = CallToolParams::new("simulate-research-query");
    params.arguments = Some(RawJson::encode(&arguments)?);
    let mut task = TaskMetadata::default();
    task.ttl = Some(60_000);
    params.task = Some(task);
    let result = peer.request(params).await?;
    let task = result.extra.get("task").ok_or("not a task")?;
    Ok(task.decode()?)
}

#[tokio::test]
async fn a_task_asks_the_user_and_ends_with_a_result() -> Checked {
    within(async {
        let answer = RawJson::encode(&json!({"interpretation": "snake"}))?;
        let on_elicit = move |params: ElicitParams| {
            assert!(params.message.contains("python"), "{}", params.message);
            std::future::ready(ElicitResult::accept(answer.clone()))
        };
        let builder = builder().on_elicit(on_elicit);
        let peer = Peer::open(builder, node("mcp-server-everything")?).await?;
        let task = research(&peer, json!({"topic": "python", "ambiguous": true})).await?;
        assert_eq!(task.status, TaskStatus::Working);
        let listed = peer.request(ListCoreTasksParams::default()).await?;
        assert_eq!(listed.tasks[0].task_id, task.task_id);
        let asked = CoreTaskResultParams::new(task.task_id.clone());
        let payload = peer.request(asked).await?;
        let content: Value = payload.extra.get("content").ok_or("no content")?.decode()?;
        let report = content[0]["text"].as_str().unwrap_or_default();
        assert!(report.contains("snake"), "{report}");
        let state = peer.request(GetCoreTaskParams::new(task.task_id)).await?;
        assert_eq!(state.status, TaskStatus::Completed);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_task_is_called_off() -> Checked {
    within(async {
        let peer = Peer::open(builder(), node("mcp-server-everything")?).await?;
        let task = research(&peer, json!({"topic": "knots"})).await?;
        let called_off = CancelCoreTaskParams::new(task.task_id.clone());
        let state = peer.request(called_off).await?;
        assert_eq!(state.status, TaskStatus::Cancelled);
        let again = CancelCoreTaskParams::new(task.task_id);
        let reason = peer.request(again).await.err().map(|error| error.reason());
        assert_eq!(reason, Some(Reason::InvalidParams));
        let unknown = GetCoreTaskParams::new("no-such-task");
        let reason = peer
            .request(unknown)
            .await
            .err()
            .map(|error| error.reason());
        assert_eq!(reason, Some(Reason::InvalidParams));
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_call_returns_the_result_of_its_task() -> Checked {
    within(async {
        let answer = RawJson::encode(&json!({"interpretation": "snake"}))?;
        let on_elicit = move |_| std::future::ready(ElicitResult::accept(answer.clone()));
        let builder = builder().on_elicit(on_elicit);
        let peer = Peer::open(builder, node("mcp-server-everything")?).await?;
        let call = peer.tools().call(
            "simulate-research-query",
            json!({"topic": "python", "ambiguous": true}),
        );
        let report = call.await?.all_text();
        assert!(report.contains("snake"), "{report}");
        // The server demands a task for this tool, which only its list says.
        assert!(peer.frames.sent("tools/list").len() == 1, "before the call");
        assert!(!peer.frames.sent("tasks/get").is_empty());
        assert!(!peer.frames.sent("tasks/result").is_empty());
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_task_is_saved_listed_and_waited_for() -> Checked {
    within(async {
        let peer = Peer::open(builder(), node("mcp-server-everything")?).await?;
        let call = peer
            .tools()
            .call("simulate-research-query", json!({"topic": "knots"}))
            .task_ttl(std::time::Duration::from_secs(60));
        let TaskOrResult::Task(task) = call.as_task().await? else {
            return Err("not a task".into());
        };
        let listed = peer.tasks().list().await?;
        assert!(listed.iter().any(|listed| *listed.id == *task.id()));
        let saved = serde_json::to_string(&task.saved())?;
        drop(task);
        let mut task = peer.tasks().resume(serde_json::from_str(&saved)?);
        let report = task.wait().await?.all_text();
        assert!(report.contains("knots"), "{report}");
        assert_eq!(*task.status(), TaskStatus::Completed);
        task.cancel().await?;
        let plain = peer.tools().call("echo", json!({"message": "hi"}));
        let plain = plain.as_task().await?;
        assert!(matches!(plain, TaskOrResult::Result(_)), "{plain:?}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_call_that_is_dropped_cancels_its_task() -> Checked {
    within(async {
        let peer = Peer::open(builder(), node("mcp-server-everything")?).await?;
        let polled = async {
            while peer.frames.sent("tasks/get").is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let call = peer
            .tools()
            .call("simulate-research-query", json!({"topic": "knots"}));
        let call = call.cancel_on(polled);
        assert_eq!(
            call.await.err().map(|error| error.reason()),
            Some(Reason::Cancelled)
        );
        let mut listed = peer.tasks().list().await?;
        while listed[0].status != TaskStatus::Cancelled {
            assert_eq!(listed[0].status, TaskStatus::Working);
            listed = peer.tasks().list().await?;
        }
        peer.close().await
    })
    .await
}
