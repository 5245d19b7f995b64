//! FastMCP with its tasks extension, over standard streams.

use bowline::{
    client::{SavedTask, TaskOrResult},
    proto::{
        Reason,
        jsonrpc::RawJson,
        model::{ElicitResult, TaskStatus},
        revision::Revision,
    },
    transport::ChildProcess,
};
use serde_json::json;

use super::rig::{Checked, Fault, Peer, builder, fastmcp, within};

fn server() -> Result<ChildProcess, Fault> {
    fastmcp("servers/task_server.py")
}

#[tokio::test]
async fn calls_return_the_results_of_their_tasks() -> Checked {
    within(async {
        let answer = RawJson::encode(&json!({"name": "Ada"}))?;
        let on_elicit = move |_| std::future::ready(ElicitResult::accept(answer.clone()));
        let peer = Peer::open(builder().on_elicit(on_elicit), server()?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2026_07_28));
        let call = async |tool: &str| peer.tools().call(tool, ()).await;
        let sum = peer.tools().call("add", json!({"a": 17, "b": 25})).await?;
        assert_eq!(sum.all_text(), "42");
        assert_eq!(call("required").await?.all_text(), "as a task");
        assert_eq!(call("greet").await?.all_text(), "Hello, Ada!");
        let failed = call("fails").await?;
        assert!(failed.is_error(), "{failed:?}");
        assert_eq!(
            peer.frames.sent("tasks/update").len(),
            1,
            "each question once"
        );
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_task_is_saved_and_cancelled() -> Checked {
    within(async {
        let peer = Peer::open(builder(), server()?).await?;
        let started = peer.tools().call("forever", ()).as_task().await?;
        let TaskOrResult::Task(task) = started else {
            return Err("not a task".into());
        };
        let saved: SavedTask = serde_json::from_str(&serde_json::to_string(&task.saved())?)?;
        drop(task);
        let mut task = peer.tasks().resume(saved);
        assert_eq!(task.refresh().await?.status, TaskStatus::Working);
        task.cancel().await?;
        let ended = task.wait().await.err().map(|error| error.reason());
        assert_eq!(ended, Some(Reason::Cancelled));
        let unknown = peer.tasks().get("no-such-task").await;
        assert_eq!(unknown.err().and_then(|error| error.code()), Some(-32602));
        peer.close().await
    })
    .await
}
