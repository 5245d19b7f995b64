//! A client that makes calls which become tasks, over standard streams: its input is what
//! the server writes. It polls by hand, as this SDK wants it, and writes what came of the
//! calls to standard error, as one JSON document.

use std::{error::Error, time::Duration};

use rmcp::{
    RoleClient, ServiceError,
    model::*,
    service::{ClientLifecycleMode, ClientServiceExt as _, RunningService},
    transport::stdio,
};
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ClientConfig>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let code = match run().await {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    // The runtime would wait until standard input ends.
    std::process::exit(code);
}

async fn run() -> Result<(), Box<dyn Error>> {
    let capabilities = ClientCapabilities::builder()
        .enable_tasks()
        .enable_elicitation();
    let config = ClientConfig::new(capabilities.build(), Implementation::from_build_env());
    let lifecycle = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let client = config.serve_with_lifecycle(stdio(), lifecycle).await?;
    let mut done = serde_json::Map::new();
    for tool in ["hello", "name", "fails"] {
        let id = start(&client, tool).await?;
        done.insert(tool.to_owned(), end(&client, &id).await?);
    }
    let id = start(&client, "held").await?;
    let cancelled = client
        .peer()
        .cancel_task(CancelTaskParams::new(id.clone()))
        .await;
    acknowledged(cancelled)?;
    done.insert("held".to_owned(), end(&client, &id).await?);
    eprintln!("{}", Value::from(done));
    client.cancel().await?;
    Ok(())
}

async fn start(client: &Client, tool: &'static str) -> Result<String, Box<dyn Error>> {
    match client
        .call_tool_once(CallToolRequestParams::new(tool))
        .await?
    {
        CallToolResponse::Task(created) => Ok(created.task.task_id),
        other => Err(format!("{tool} became no task: {other:?}").into()),
    }
}

/// Polls a task until it ends, and answers its questions.
async fn end(client: &Client, id: &str) -> Result<Value, Box<dyn Error>> {
    loop {
        let state = client.peer().get_task(GetTaskParams::new(id)).await?;
        let state = serde_json::to_value(&state.task)?;
        match state["status"].as_str() {
            Some("working") => tokio::time::sleep(Duration::from_millis(20)).await,
            Some("input_required") => {
                let questions = state["inputRequests"].as_object().into_iter().flatten();
                let answer = json!({"action": "accept", "content": {"name": "Ada"}});
                let answers: Value = questions
                    .map(|(key, _)| (key.clone(), answer.clone()))
                    .collect();
                let answers = json!({"taskId": id, "inputResponses": answers});
                let answers = serde_json::from_value(answers)?;
                acknowledged(client.peer().update_task(answers).await)?;
            }
            _ => return Ok(state),
        }
    }
}

/// Accepts an acknowledgement. If it has a `_meta`, as the protocol allows, this SDK takes
/// it for the result of a tool and calls it unexpected.
fn acknowledged(result: Result<(), ServiceError>) -> Result<(), ServiceError> {
    match result {
        Err(ServiceError::UnexpectedResponse) => Ok(()),
        other => other,
    }
}
