//! A server on rmcp with its task manager, over standard streams.

use bowline::{
    client::TaskOrResult,
    proto::{
        Reason,
        jsonrpc::RawJson,
        model::{ElicitResult, TaskStatus},
        revision::Revision,
    },
};
use serde_json::json;

use super::rig::{Checked, Peer, builder, rmcp, within};

#[tokio::test]
async fn calls_return_the_results_of_their_tasks() -> Checked {
    within(async {
        let answer = RawJson::encode(&json!({"name": "Ada"}))?;
        let on_elicit = move |_| std::future::ready(ElicitResult::accept(answer.clone()));
        let builder = builder().on_elicit(on_elicit);
        let peer = Peer::open(builder, rmcp("task_server")?).await?;
        assert_eq!(peer.revision(), Some(Revision::V2026_07_28));
        let call = async |tool: &str| peer.tools().call(tool, ()).await;
        assert_eq!(call("hello").await?.all_text(), "Hello!");
        assert_eq!(call("name").await?.all_text(), "Hello, Ada!");
        assert_eq!(
            peer.frames.sent("tasks/update").len(),
            1,
            "each question once"
        );
        let failed = call("fails").await.err().and_then(|error| error.code());
        assert_eq!(failed, Some(-32603));
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_task_is_cancelled() -> Checked {
    within(async {
        let peer = Peer::open(builder(), rmcp("task_server")?).await?;
        let started = peer.tools().call("held", ()).as_task().await?;
        let TaskOrResult::Task(mut task) = started else {
            return Err("not a task".into());
        };
        assert_eq!(task.refresh().await?.status, TaskStatus::Working);
        task.cancel().await?;
        let ended = task.wait().await.err().map(|error| error.reason());
        assert_eq!(ended, Some(Reason::Cancelled));
        peer.close().await
    })
    .await
}
