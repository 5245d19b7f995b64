//! A server with tasks, as clients see it that nobody here wrote.

use std::{process::Stdio, time::Duration};

use bowline::{
    Server as BowlineServer,
    server::{
        Conversation, Error, Service, TaskOptions, TaskPolicy, Tool, form::Elicit,
        http::HttpOptions,
    },
    transport::MemoryLink,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
    process::Command,
};

use super::rig::{Checked, Fault, Sdk, Server, installed, sent, text, top};

#[derive(Elicit)]
struct Name {
    name: String,
}

/// A server whose tools run as tasks.
fn service() -> Result<Service, Fault> {
    let tool = |name: &str, policy| {
        Tool::new(name)
            .description("A test")
            .no_input()
            .task(policy)
    };
    let service = BowlineServer::new("tasks", "1")
        .task_options(TaskOptions::new().poll_interval(Duration::from_millis(50)))
        .tool(tool("hello", TaskPolicy::Optional).handler(async |_| Ok("Hello!")))
        .tool(
            tool("fails", TaskPolicy::Required)
                .handler(async |_| Err::<String, _>(Error::failed("no paper"))),
        )
        .tool(
            tool("name", TaskPolicy::Optional).handler_with_conversation(
                async |_, cx: Conversation| {
                    let form = cx.elicit::<Name>("Your name?").key("who").required();
                    Ok(format!("Hello, {}!", form.await?.name))
                },
            ),
        )
        .tool(
            tool("held", TaskPolicy::Required)
                .handler(async |_| std::future::pending::<Result<String, Error>>().await),
        )
        .tool(
            Tool::new("plain")
                .description("No task")
                .no_input()
                .handler(async |_| Ok("plain")),
        )
        .build()?;
    Ok(service)
}

/// Serves it over HTTP. Returns the URL.
async fn serve() -> Result<String, Fault> {
    let service = service()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let http = service.http(HttpOptions::default());
    tokio::spawn(async move { http.serve(listener).await });
    Ok(url)
}

#[tokio::test]
async fn the_typescript_sdk_follows_tasks_of_the_core() -> Checked {
    let url = serve().await?;
    let scenario = json!({
        "era": "handshake",
        "capabilities": {"elicitation": true},
        "elicit": [{"action": "accept", "content": {"name": "Ada"}}],
        "do": [
            {"list": "tools"},
            {"call": "hello", "arguments": {}, "task": {"ttl": 60_000}},
            {"call": "name", "arguments": {}, "task": {}},
            {"call": "plain", "arguments": {}},
            {"call": "fails", "arguments": {}, "task": {}},
        ],
    });
    let document = Sdk::TypeScript1
        .run_cleanly(&Server::at(&url), &scenario)
        .await?;
    assert_eq!(document["version"], "2025-11-25");
    assert_eq!(text(&document, 1), "Hello!");
    assert_eq!(text(&document, 2), "Hello, Ada!");
    assert_eq!(text(&document, 3), "plain");
    let statuses = &document["done"][1]["result"]["statuses"];
    assert_eq!(statuses[0], "working", "{document:#}");
    assert!(!sent(&document, "tasks/get").is_empty());
    // This SDK never fetches the result of a task that failed.
    let failed = &document["done"][4]["error"];
    assert!(failed["message"].is_string(), "{document:#}");
    Ok(())
}

#[tokio::test]
async fn fastmcp_follows_tasks_of_the_extension() -> Checked {
    let url = serve().await?;
    let output = Command::new(installed("fastmcp/bin/python")?)
        .arg(top().join("peers/clients/task_client.py"))
        .arg(&url)
        .kill_on_drop(true)
        .output()
        .await?;
    let said = String::from_utf8_lossy(&output.stderr);
    let done: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("no document ({error}): {said}"))?;
    assert_eq!(done["plain"], "plain", "{done:#}");
    assert_eq!(done["hello"], "Hello!");
    assert_eq!(done["name"], "Hello, Ada!");
    assert!(
        done["fails"]
            .as_str()
            .is_some_and(|it| it.contains("no paper")),
        "{done:#}"
    );
    assert_eq!(done["held"], "working");
    assert_eq!(done["cancelled"], "cancelled");
    Ok(())
}

#[tokio::test]
async fn rmcp_follows_tasks_of_the_extension() -> Checked {
    let mut client = Command::new(installed("rmcp/debug/task_client")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (mut near, far) = MemoryLink::pair();
    let service = service()?;
    tokio::spawn(async move { service.serve(far).await });
    let mut input = client.stdin.take().ok_or("no input")?;
    let mut lines = BufReader::new(client.stdout.take().ok_or("no output")?).lines();
    let exchange = async {
        loop {
            tokio::select! {
                line = lines.next_line() => match line? {
                    Some(line) => drop(near.send_frame(line.into()).await),
                    None => return Ok::<_, Fault>(()),
                },
                Some(frame) = near.recv() => {
                    input.write_all(&frame).await?;
                    input.write_all(b"\n").await?;
                    input.flush().await?;
                }
            }
        }
    };
    let mut said = String::new();
    let mut stderr = client.stderr.take().ok_or("no standard error")?;
    let told = stderr.read_to_string(&mut said);
    let (exchanged, told) = tokio::join!(exchange, told);
    exchanged?;
    told?;
    let done: Value = serde_json::from_str(&said).map_err(|_| format!("no document: {said}"))?;
    assert_eq!(
        done["hello"]["result"]["content"][0]["text"], "Hello!",
        "{done:#}"
    );
    assert_eq!(done["name"]["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(
        done["fails"]["status"], "completed",
        "a tool that fails completes"
    );
    assert_eq!(done["fails"]["result"]["isError"], true);
    assert_eq!(done["held"]["status"], "cancelled");
    Ok(())
}
