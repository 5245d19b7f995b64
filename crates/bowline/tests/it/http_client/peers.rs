//! Against HTTP servers of others, in every shape: `cargo xtask peers` installs
//! them.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    Client,
    client::{ClientBuilder, Notification, progress_channel},
    proto::{
        client::{TelemetryEvent, Timeouts},
        jsonrpc::RawJson,
        model::{ElicitAction, ElicitParams, ElicitResult, LogLevel},
        revision::Revision,
    },
    transport::Http,
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
};

use crate::sync::lock;

/// Far more than any test here takes: it is only there to end one that hangs.
const PATIENCE: Duration = Duration::from_secs(180);

async fn within<T>(what: impl IntoFuture<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, what).await;
    done.expect("it is done in time")
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn installed(path: &str) -> PathBuf {
    let path = top().join("target").join("peers").join(path);
    assert!(path.exists(), "a peer is missing: run cargo xtask peers");
    path
}

/// A server process, which ends with this.
struct Served {
    process: Child,
    port: u16,
}

impl Served {
    /// `server-everything`, on a port that was free a moment ago or on this one.
    async fn everything(mode: &str, port: Option<u16>) -> Self {
        for _ in 0..5 {
            let port = port.unwrap_or_else(free_port);
            let mut command =
                Command::new(installed("node/node_modules/.bin/mcp-server-everything"));
            command.arg(mode).env("PORT", port.to_string());
            let mut process = start(&mut command);
            let words = process.stderr.take().expect("a pipe");
            if within(heard(words, "port")).await.is_some() {
                return Self { process, port };
            }
        }
        panic!("it does not start");
    }

    /// A server of ours on the Python SDK.
    async fn python(server: &str, mode: &str) -> Self {
        let mut command = Command::new(installed("python/bin/python"));
        command.arg(top().join("peers/servers/over_http.py"));
        Self::on_a_port(command.args([server, mode])).await
    }

    /// A server of ours on the TypeScript SDK 2.x.
    async fn typescript(mode: &str) -> Self {
        installed("node/node_modules/@modelcontextprotocol/server");
        let mut command = Command::new("node");
        command.arg(top().join("peers/servers/ts2_http.mjs"));
        Self::on_a_port(command.arg(mode)).await
    }

    /// A server that chooses its port, and says which.
    async fn on_a_port(command: &mut Command) -> Self {
        let mut process = start(command);
        let words = process.stdout.take().expect("a pipe");
        let port = within(heard(words, "")).await.expect("a port");
        let port = port.trim().parse().expect("a number");
        Self { process, port }
    }

    fn http(&self, path: &str) -> Http {
        Http::new(&format!("http://127.0.0.1:{}{path}", self.port)).expect("a URL")
    }

    async fn end(mut self) {
        self.process.kill().await.expect("it ends");
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").port()
}

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.kill_on_drop(true);
    command.spawn().expect("it starts")
}

/// The first line with this in it. What follows is read, and dropped.
async fn heard(words: impl AsyncRead + Unpin + Send + 'static, wanted: &str) -> Option<String> {
    let mut lines = BufReader::new(words).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.contains(wanted) {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Some(line);
        }
    }
    None
}

fn builder() -> ClientBuilder {
    let mut timeouts = Timeouts::standard();
    timeouts.connect = Duration::from_secs(120);
    timeouts.probe = Duration::from_secs(60);
    timeouts.tool = Duration::from_secs(60);
    timeouts.other = Duration::from_secs(60);
    Client::builder()
        .client_info("bowline-interop", "0.0.1")
        .timeouts(timeouts)
}

/// Connects; whatever the client complains of is kept.
async fn open(builder: ClientBuilder, http: Http) -> (Client, Arc<Mutex<Vec<String>>>) {
    let complaints = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&complaints);
    let builder = builder.observer(move |telemetry| {
        if let TelemetryEvent::Violation { .. } | TelemetryEvent::UnknownResponse = telemetry.event
        {
            lock(&seen).push(format!("{telemetry:?}"));
        }
    });
    let client = within(builder.connect(http)).await.expect("it connects");
    (client, complaints)
}

fn answer(question: &ElicitParams) -> ElicitResult {
    let form = if question.message.starts_with("Which seat") {
        json!({"row": 7, "window": false})
    } else {
        json!({"agreed": true, "name": "Ada"})
    };
    match RawJson::encode(&form) {
        Ok(form) => ElicitResult::accept(form),
        Err(_) => ElicitResult::new(ElicitAction::Cancel),
    }
}

/// A user who answers every question.
fn asked() -> ClientBuilder {
    builder().on_elicit(|question| std::future::ready(answer(&question)))
}

async fn text(client: &Client, tool: &str, arguments: serde_json::Value) -> String {
    let result = within(async { client.tools().call(tool, arguments).await }).await;
    let result = result.expect("an answer");
    assert!(!result.is_error(), "{tool}: {}", result.all_text());
    result.all_text()
}

async fn check_everything(client: &Client) {
    let server = client.server_info().expect("a server");
    assert_eq!(server.revision, Revision::V2025_11_25);
    let tools = within(client.tools().list()).await.expect("a list");
    assert!(tools.len() >= 12, "{}", tools.len());
    let large = "knot ".repeat(100_000);
    let echoed = text(client, "echo", json!({"message": large})).await;
    assert_eq!(echoed, format!("Echo: {large}"));
    let (sender, mut progress) = progress_channel();
    let arguments = json!({"duration": 0.2, "steps": 4});
    let call = client
        .tools()
        .call("trigger-long-running-operation", arguments);
    within(async { call.progress_to(sender).await })
        .await
        .expect("an answer");
    let mut steps = 0;
    while progress.recv().await.is_some() {
        steps += 1;
    }
    assert!(steps >= 3, "{steps}");
    let told = text(client, "trigger-elicitation-request", json!({})).await;
    assert!(told.contains("- Name: Ada"), "{told}");
    let read = within(async {
        client
            .resources()
            .read("demo://resource/dynamic/text/3")
            .await
    });
    assert_eq!(read.await.expect("a resource").contents.len(), 1);
}

#[tokio::test]
async fn everything_over_one_endpoint() {
    let served = Served::everything("streamableHttp", None).await;
    let (client, complaints) = open(asked(), served.http("/mcp")).await;
    check_everything(&client).await;
    let calls: Vec<_> = (0..40)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let said = text(&client, "echo", json!({"message": number.to_string()})).await;
                assert_eq!(said, format!("Echo: {number}"));
            })
        })
        .collect();
    for call in calls {
        within(call).await.expect("its own answer");
    }
    client.stop().await;
    assert_eq!(*lock(&complaints), [""; 0]);
    served.end().await;
}

#[tokio::test]
async fn everything_over_two_endpoints() {
    let served = Served::everything("sse", None).await;
    let (client, complaints) = open(asked(), served.http("/sse")).await;
    check_everything(&client).await;
    client.stop().await;
    assert_eq!(*lock(&complaints), [""; 0]);
    served.end().await;
}

/// The new process knows nothing of the session, and says so in its own way.
#[tokio::test]
async fn everything_comes_back_after_a_restart() {
    for (mode, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let served = Served::everything(mode, None).await;
        let port = served.port;
        let (client, _) = open(builder(), served.http(path)).await;
        text(&client, "echo", json!({"message": "before"})).await;
        served.end().await;
        let served = Served::everything(mode, Some(port)).await;
        let mut health = client.watch_health();
        let back = within(health.wait_for(|health| health.sessions >= 2)).await;
        back.map(drop).expect("it comes back");
        let call = client.tools().call("echo", json!({"message": "after"}));
        let after = within(async { call.wait_for_connection().await }).await;
        assert_eq!(
            after.expect("an answer").all_text(),
            "Echo: after",
            "{mode}"
        );
        client.stop().await;
        served.end().await;
    }
}

#[tokio::test]
async fn the_python_sdk_over_one_endpoint_in_both_eras() {
    for mode in ["stream", "json"] {
        let served = Served::python("highlevel_server", mode).await;
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let (client, complaints) =
                open(asked().revisions([revision]), served.http("/mcp")).await;
            let server = client.server_info().expect("a server");
            assert_eq!(server.revision, revision);
            let tools = within(client.tools().list()).await.expect("a list");
            assert!(tools.iter().any(|tool| tool.name == "add"));
            let sum = client.tools().call("add", json!({"a": 2, "b": 40}));
            let sum: serde_json::Value = within(sum.typed()).await.expect("a sum");
            assert!(sum.to_string().contains("42"), "{sum}");
            // A server of the older era cannot ask in the middle of an answer
            // that is one JSON text.
            if mode == "stream" || revision == Revision::V2026_07_28 {
                let booked = text(&client, "book", json!({"flight": "BW 1"})).await;
                assert_eq!(booked, "BW 1: row 7, aisle, agreed", "{revision:?} {mode}");
            }
            client.stop().await;
            assert_eq!(*lock(&complaints), [""; 0], "{revision:?} {mode}");
        }
        served.end().await;
    }
}

#[tokio::test]
async fn the_python_sdk_is_asked_in_the_newest_revision_that_it_has() {
    let served = Served::python("highlevel_server", "stream").await;
    let (client, _) = open(builder(), served.http("/mcp")).await;
    let server = client.server_info().expect("a server");
    assert_eq!(server.revision, Revision::V2026_07_28);
    client.stop().await;
    served.end().await;
}

#[tokio::test]
async fn the_python_sdk_over_two_endpoints() {
    let served = Served::python("highlevel_server", "sse").await;
    let (client, complaints) = open(asked(), served.http("/sse")).await;
    let booked = text(&client, "book", json!({"flight": "BW 1"})).await;
    assert_eq!(booked, "BW 1: row 7, aisle, agreed");
    client.stop().await;
    assert_eq!(*lock(&complaints), [""; 0]);
    served.end().await;
}

#[tokio::test]
async fn a_stream_of_changes_that_the_python_sdk_ends_is_opened_again() {
    let served = Served::python("lowlevel_server", "stream").await;
    let only = asked().revisions([Revision::V2026_07_28]);
    let (client, complaints) = open(only, served.http("/mcp")).await;
    let mut notices = client.subscribe_to_list_changes();
    let _bell = within(client.resources().subscribe("bell://one"))
        .await
        .expect("a bell");
    let is_update = |notice: &Notification| matches!(notice, Notification::ResourceUpdated(_));
    text(&client, "ring", json!({})).await;
    while !is_update(&within(notices.next()).await.expect("a notice")) {}
    text(&client, "hang_up", json!({})).await;
    let is_back = |notice: &Notification| matches!(notice, Notification::Resubscribed { .. });
    while !is_back(&within(notices.next()).await.expect("a notice")) {}
    text(&client, "ring", json!({})).await;
    while !is_update(&within(notices.next()).await.expect("a notice")) {}
    assert_eq!(text(&client, "wait", json!({})).await, "after 2 rounds");
    assert_eq!(client.health().sessions, 1);
    client.stop().await;
    assert_eq!(*lock(&complaints), [""; 0]);
    served.end().await;
}

/// How many times the server said how far it is.
async fn counted(client: &Client, to: usize) -> usize {
    let (sender, mut progress) = progress_channel();
    let call = client.tools().call("count", json!({"to": to}));
    let counted = within(async { call.progress_to(sender).await }).await;
    assert_eq!(
        counted.expect("an answer").all_text(),
        format!("counted to {to}")
    );
    let mut steps = 0;
    while progress.recv().await.is_some() {
        steps += 1;
    }
    steps
}

/// What does not depend on the era, nor on the form of the answers.
async fn check_typescript(client: &Client) {
    let server = client.server_info().expect("a server");
    assert_eq!(server.instructions.as_deref(), Some("Knots only."));
    let tools = within(client.tools().list()).await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["add", "book", "count", "write"]);
    let sum = client.tools().call("add", json!({"a": 2, "b": 40}));
    let sum: serde_json::Value = within(sum.typed()).await.expect("a sum");
    assert_eq!(sum, json!({"sum": 42}));
    let greeting = within(async { client.prompts().get("greet", [("name", "Ada")]).await });
    let greeting = greeting.await.expect("a prompt");
    assert_eq!(greeting.messages.len(), 1);
    let none = within(async { client.resources().read("note://never").await }).await;
    assert!(none.is_err(), "{none:?}");
}

#[tokio::test]
async fn the_typescript_sdk_in_both_eras() {
    for mode in ["auto", "sse", "json"] {
        let served = Served::typescript(mode).await;
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            // The mode is one of the newer era.
            if mode != "auto" && revision == Revision::V2025_11_25 {
                continue;
            }
            let only = asked().revisions([revision]).log_level(LogLevel::Warning);
            let (client, complaints) = open(only, served.http("/mcp")).await;
            assert_eq!(client.server_info().expect("a server").revision, revision);
            let mut notices = client.subscribe_to_list_changes();
            check_typescript(&client).await;
            let booked = text(&client, "book", json!({"flight": "BW 1"})).await;
            assert_eq!(booked, "BW 1: row 7, aisle, agreed", "{revision:?} {mode}");
            // What has no stream to travel on is dropped there.
            let told = if mode == "json" { 0 } else { 3 };
            assert_eq!(counted(&client, 3).await, told, "{revision:?} {mode}");
            if mode != "json" {
                let is_log = |notice: &Notification| matches!(notice, Notification::Log(_));
                while !is_log(&within(notices.next()).await.expect("a notice")) {}
            }
            client.stop().await;
            assert_eq!(*lock(&complaints), [""; 0], "{revision:?} {mode}");
        }
        served.end().await;
    }
}

/// The handshake without a session, as the SDK serves it unless told: every
/// request comes to a server that has heard of nothing before, and there is no
/// stream for what nobody asked for.
#[tokio::test]
async fn the_typescript_sdk_without_sessions_in_both_eras() {
    let served = Served::typescript("sessionless").await;
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (client, complaints) = open(asked().revisions([revision]), served.http("/mcp")).await;
        assert_eq!(client.server_info().expect("a server").revision, revision);
        check_typescript(&client).await;
        assert_eq!(counted(&client, 3).await, 3, "{revision:?}");
        client.stop().await;
        assert_eq!(*lock(&complaints), [""; 0], "{revision:?}");
    }
    served.end().await;
}

#[tokio::test]
async fn the_typescript_sdk_tells_of_changes_in_both_eras() {
    let served = Served::typescript("auto").await;
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (client, complaints) = open(builder().revisions([revision]), served.http("/mcp")).await;
        let mut notices = client.subscribe_to_list_changes();
        let subscribed = within(client.resources().subscribe("note://today")).await;
        let _note = subscribed.expect("a note");
        for words in ["tie knots", "untie them"] {
            text(&client, "write", json!({"text": words})).await;
            let is_update =
                |notice: &Notification| matches!(notice, Notification::ResourceUpdated(_));
            while !is_update(&within(notices.next()).await.expect("a notice")) {}
            let read = within(async { client.resources().read("note://today").await }).await;
            let read = format!("{:?}", read.expect("a note").contents);
            assert!(read.contains(words), "{revision:?}: {read}");
        }
        client.stop().await;
        assert_eq!(*lock(&complaints), [""; 0], "{revision:?}");
    }
    served.end().await;
}

#[tokio::test]
async fn the_typescript_sdk_is_asked_in_the_newest_revision_that_it_has() {
    let served = Served::typescript("auto").await;
    let (client, _) = open(builder(), served.http("/mcp")).await;
    let server = client.server_info().expect("a server");
    assert_eq!(server.revision, Revision::V2026_07_28);
    client.stop().await;
    served.end().await;
}
