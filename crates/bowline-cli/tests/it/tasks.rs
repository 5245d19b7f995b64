//! Calls that become tasks, from one run of the command to the next.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use bowline::{
    Server,
    server::{Conversation, Error, TaskOptions, TaskPolicy, Tool, form::Elicit, http::HttpOptions},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};

use crate::rig::{Ran, Rig};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

#[derive(Elicit)]
struct Name {
    name: String,
}

/// A server whose tasks outlive the commands, and the gate of its tool `held`.
struct Studio {
    rig: Rig,
    gate: Arc<Notify>,
}

impl Studio {
    fn new() -> Self {
        let gate = Arc::new(Notify::new());
        let address = serve(Arc::clone(&gate));
        let rig = Rig::empty();
        let url = format!("http://{address}/mcp");
        rig.configure(&json!({"mcpServers": {"studio": {"url": url}}}));
        Self { rig, gate }
    }

    fn run(&self, revision: &str, words: &[&str]) -> Ran {
        self.rig.run(&[words, &["--protocol", revision]].concat())
    }

    /// Starts a task, and returns its name.
    #[track_caller]
    fn start(&self, revision: &str, tool: &str) -> String {
        let ran = self.run(revision, &["call", tool, "--task"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let name = ran.text().trim().to_owned();
        assert!(file(&self.rig, &name).is_file(), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("bowline tasks wait {name}")),
            "{ran:?}"
        );
        name
    }
}

fn file(rig: &Rig, name: &str) -> PathBuf {
    let folder = rig.home().join(".local/state/bowline/suspended");
    folder.join(format!("{name}.json"))
}

fn serve(gate: Arc<Notify>) -> SocketAddr {
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender
                .send(listener.local_addr().expect("an address"))
                .expect("the test waits");
            let tool = |name: &str, policy| {
                Tool::new(name)
                    .description("A test")
                    .no_input()
                    .task(policy)
            };
            let tools: [Tool<Arc<Notify>>; 4] = [
                tool("hello", TaskPolicy::Required).handler(async |_| Ok("Hello!")),
                tool("fails", TaskPolicy::Required)
                    .handler(async |_| Err::<String, _>(Error::failed("no paper"))),
                tool("held", TaskPolicy::Required).handler_with_conversation(
                    async |_, cx: Conversation<Arc<Notify>>| {
                        cx.state().notified().await;
                        Ok("let go")
                    },
                ),
                tool("name", TaskPolicy::Required).handler_with_conversation(
                    async |_, cx: Conversation<Arc<Notify>>| {
                        let form = cx.elicit::<Name>("Your name?").key("who").required();
                        Ok(format!("Hello, {}!", form.await?.name))
                    },
                ),
            ];
            let plain = Tool::new("plain").description("No task").no_input();
            let options = TaskOptions::new().poll_interval(Duration::from_millis(20));
            let service = Server::new("studio", "1")
                .state(gate)
                .tools(tools)
                .tool(plain.handler(async |_| Ok("plain")))
                .task_options(options)
                .build()
                .expect("the server is sound");
            let http = service.http(HttpOptions::default());
            http.serve(listener).await.expect("it serves");
        });
    });
    address.recv().expect("the server starts")
}

#[test]
fn a_call_prints_its_result_whether_or_not_it_became_a_task() {
    let studio = Studio::new();
    for revision in REVISIONS {
        for (tool, expected) in [("plain", "plain\n"), ("hello", "Hello!\n")] {
            let ran = studio.run(revision, &["call", &format!("studio.{tool}")]);
            assert_eq!((ran.code, ran.text()), (Some(0), expected), "{ran:?}");
        }
        let ran = studio.run(revision, &["call", "studio.fails"]);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        assert!(
            ran.stderr.contains("studio.fails failed: Error: no paper"),
            "{ran:?}"
        );
        let ran = studio.run(revision, &["call", "studio.name", "--answer", "name=Ada"]);
        assert_eq!(
            (ran.code, ran.text()),
            (Some(0), "Hello, Ada!\n"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_task_is_started_looked_at_and_waited_for() {
    let studio = Studio::new();
    for revision in REVISIONS {
        let name = studio.start(revision, "studio.held");
        let ran = studio.rig.run(&["tasks", "get", &name]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.text().starts_with("working\n"), "{ran:?}");
        let ran = studio.rig.run(&["tasks", "--json"]);
        let listed = ran.json();
        assert_eq!(listed[0]["task"], name.as_str(), "{listed}");
        assert_eq!(listed[0]["tool"], "held");
        assert_eq!(listed[0]["wait"], format!("bowline tasks wait {name}"));
        let ran = studio
            .rig
            .run(&["tasks", "wait", &name, "--timeout", "300ms"]);
        assert_eq!(ran.code, Some(124), "{ran:?}");
        assert!(
            ran.stderr.contains(&format!("bowline tasks wait {name}")),
            "{ran:?}"
        );
        studio.gate.notify_one();
        let ran = studio.rig.run(&["tasks", "wait", &name]);
        assert_eq!((ran.code, ran.text()), (Some(0), "let go\n"), "{ran:?}");
        assert!(!file(&studio.rig, &name).exists());
        let ran = studio.rig.run(&["tasks"]);
        assert_eq!((ran.text(), &*ran.stderr), ("", "no tasks\n"), "{ran:?}");
    }
}

#[test]
fn a_task_is_cancelled_or_forgotten() {
    let studio = Studio::new();
    for revision in REVISIONS {
        let name = studio.start(revision, "studio.held");
        let id = studio.rig.run(&["tasks", "get", &name, "--json"]).json();
        let ran = studio.rig.run(&["tasks", "cancel", &name]);
        assert_eq!(
            (ran.code, &*ran.stderr),
            (Some(0), &*format!("cancelled {name}\n")),
            "{ran:?}"
        );
        assert!(!file(&studio.rig, &name).exists());
        let params = json!({"taskId": id["taskId"]}).to_string();
        let ran = studio.run(revision, &["raw", "studio", "tasks/get", &params]);
        assert!(ran.text().contains("\"cancelled\""), "{ran:?}");
        let name = studio.start(revision, "studio.held");
        let ran = studio
            .rig
            .run(&["tasks", "cancel", &name, "--forget", "--json"]);
        assert_eq!(ran.json(), json!({ "cancelled": name }));
    }
}

#[test]
fn a_call_that_takes_too_long_leaves_no_task_behind() {
    let studio = Studio::new();
    let ran = studio.run(REVISIONS[0], &["call", "studio.held", "--timeout", "500ms"]);
    assert_eq!(ran.code, Some(124), "{ran:?}");
    let ran = studio.run(
        REVISIONS[0],
        &["call", "studio.name", "--answer", "name=Ada"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The gate is open for one: had the first call gone on, it would pass.
    let name = studio.start(REVISIONS[0], "studio.held");
    studio.gate.notify_one();
    let ran = studio.rig.run(&["tasks", "wait", &name]);
    assert_eq!(ran.text(), "let go\n", "{ran:?}");
}

#[test]
fn the_questions_of_a_task_wait_for_answers() {
    let studio = Studio::new();
    let revision = "2026-07-28";
    let name = studio.start(revision, "studio.name");
    let ran = studio.rig.run(&["tasks", "wait", &name, "--json"]);
    let told: Value = ran.json();
    assert_eq!(told["suspended"], name.as_str(), "{ran:?}");
    assert_eq!(told["resume"], format!("bowline resume {name} name=…"));
    let ran = studio.rig.run(&["resume"]);
    assert!(ran.text().contains(&name), "{ran:?}");
    let ran = studio.rig.run(&["tasks", "wait", &name, "name=Grace"]);
    assert_eq!(
        (ran.code, ran.text()),
        (Some(0), "Hello, Grace!\n"),
        "{ran:?}"
    );
    // And of a call that nobody left to itself.
    let ran = studio.run(revision, &["call", "studio.name", "--json"]);
    let name = ran.json()["suspended"].as_str().expect("a name").to_owned();
    let ran = studio.rig.run(&["resume", &name, "name=Ada"]);
    assert_eq!(
        (ran.code, ran.text()),
        (Some(0), "Hello, Ada!\n"),
        "{ran:?}"
    );
}

#[test]
fn a_task_that_its_server_forgot_is_reported_and_forgotten_here() {
    let studio = Studio::new();
    let name = studio.start("2026-07-28", "studio.held");
    let path = file(&studio.rig, &name);
    let text = std::fs::read_to_string(&path).expect("it is stored");
    let mut stored: Value = serde_json::from_str(&text).expect("JSON");
    stored["task"]["saved"]["taskId"] = json!("0123456789abcdef0123456789abcdef");
    std::fs::write(&path, stored.to_string()).expect("it can be written");
    let ran = studio.rig.run(&["tasks", "wait", &name]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("studio.held: "), "{ran:?}");
    assert!(!path.exists());
}

#[test]
fn a_call_that_becomes_no_task_prints_its_result() {
    let studio = Studio::new();
    for revision in REVISIONS {
        let ran = studio.run(revision, &["call", "studio.plain", "--task"]);
        assert_eq!((ran.code, ran.text()), (Some(0), "plain\n"), "{ran:?}");
    }
}

#[test]
fn only_some_servers_list_their_tasks() {
    let studio = Studio::new();
    let ran = studio.run("2026-07-28", &["tasks", "list", "studio"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stderr.contains("tasks/list"), "{ran:?}");
}
