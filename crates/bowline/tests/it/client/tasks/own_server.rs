//! Our client and our server, in both dialects, over memory and HTTP.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    Client, Revision, Server,
    client::{ClientBuilder, SavedTask, TaskOrResult, TaskOutcome},
    model::{ElicitResult, InputResponses, Root, TaskStatus},
    proto::jsonrpc::RawJson,
    server::{
        Conversation, Error, Service, TaskOptions, TaskPolicy, Tool, form::Elicit,
        http::HttpOptions,
    },
    transport::Http,
};
use serde_json::json;
use tokio::{net::TcpListener, sync::Notify};

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// What the tools of a test share.
#[derive(Clone, Default)]
struct App(Arc<Inner>);

#[derive(Default)]
struct Inner {
    gate: Notify,
    effects: Mutex<Vec<String>>,
}

impl App {
    fn effects(&self) -> Vec<String> {
        crate::sync::lock(&self.0.effects).clone()
    }
}

#[derive(Elicit)]
struct Name {
    name: String,
}

fn service(app: &App) -> Service<App> {
    let tool = |name: &str, policy| {
        Tool::new(name)
            .description("A test")
            .no_input()
            .task(policy)
    };
    let tools: Vec<Tool<App>> = vec![
        tool("hello", TaskPolicy::Required).handler(async |_| Ok("Hello!")),
        tool("fails", TaskPolicy::Required)
            .handler(async |_| Err::<String, _>(Error::failed("no paper"))),
        tool("optional", TaskPolicy::Optional).handler(async |_| Ok("either way")),
        tool("name", TaskPolicy::Required).handler_with_conversation(
            async |_, cx: Conversation<App>| {
                let form = cx.elicit::<Name>("Your name?").key("name").required();
                let name = form.await?.name;
                cx.step("greet", async {
                    crate::sync::lock(&cx.state().0.effects).push(name.clone());
                    Ok(())
                })
                .await?;
                Ok(format!("Hello, {name}!"))
            },
        ),
        tool("held", TaskPolicy::Required).handler_with_conversation(
            async |_, cx: Conversation<App>| {
                cx.state().0.gate.notified().await;
                Ok("let go")
            },
        ),
        Tool::new("plain")
            .description("No task")
            .no_input()
            .handler(async |_| Ok("plain")),
    ];
    Server::new("tasks", "1")
        .state(app.clone())
        .tools(tools)
        .task_options(TaskOptions::new().poll_interval(Duration::from_millis(20)))
        .build()
        .expect("the server is sound")
}

fn builder(revision: Revision) -> ClientBuilder {
    let named = async |_| {
        let name = RawJson::encode(&json!({"name": "Ada"}));
        ElicitResult::accept(name.expect("JSON"))
    };
    Client::builder()
        .seed(1)
        .revisions([revision])
        .on_elicit(named)
}

async fn over_memory(service: &Service<App>, revision: Revision) -> Client {
    builder(revision)
        .connect(service.in_memory())
        .await
        .expect("a session")
}

async fn over_http(service: &Service<App>, revision: Revision) -> (Client, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let http = service.http(HttpOptions::default());
    tokio::spawn(async move { http.serve(listener).await });
    let client = builder(revision).connect(to(address)).await;
    (client.expect("a session"), address)
}

fn to(address: SocketAddr) -> Http {
    Http::new(&format!("http://{address}/mcp")).expect("an address")
}

/// All that a caller does who does not care about tasks.
async fn call_all(client: &Client, app: &App) {
    let text = async |tool: &str| {
        let result = client.tools().call(tool, ()).await.expect(tool);
        (result.all_text(), result.is_error())
    };
    assert_eq!(text("plain").await, ("plain".to_owned(), false));
    assert_eq!(text("hello").await, ("Hello!".to_owned(), false));
    assert_eq!(text("optional").await, ("either way".to_owned(), false));
    assert_eq!(text("name").await, ("Hello, Ada!".to_owned(), false));
    assert_eq!(app.effects(), ["Ada"], "once");
    let (text, is_error) = text("fails").await;
    assert!(is_error && text.contains("no paper"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_call_returns_its_result_whether_or_not_it_became_a_task() {
    for revision in REVISIONS {
        let app = App::default();
        let client = over_memory(&service(&app), revision).await;
        call_all(&client, &app).await;
    }
}

#[tokio::test]
async fn so_does_a_call_over_http() {
    for revision in REVISIONS {
        let app = App::default();
        let (client, _) = over_http(&service(&app), revision).await;
        call_all(&client, &app).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_accept_tasks_calls_the_other_tools() {
    for revision in REVISIONS {
        let app = App::default();
        let service = service(&app);
        let builder = builder(revision).accept_tasks(false);
        let client = builder
            .connect(service.in_memory())
            .await
            .expect("a session");
        for tool in ["plain", "optional"] {
            client.tools().call(tool, ()).await.expect(tool);
        }
        let error = client.tools().call("hello", ()).await.expect_err("a task");
        assert!(error.server_error().is_some(), "{error}");
    }
}

/// Starts a call as a task.
async fn start(client: &Client, tool: &str) -> bowline::client::TaskHandle {
    match client.tools().call(tool, ()).as_task().await.expect(tool) {
        TaskOrResult::Task(task) => task,
        TaskOrResult::Result(result) => panic!("{tool} became no task: {result:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_waited_for_cancelled_and_found_again() {
    for revision in REVISIONS {
        let app = App::default();
        let client = over_memory(&service(&app), revision).await;
        let mut task = start(&client, "optional").await;
        assert_eq!(
            task.wait().await.expect("a result").all_text(),
            "either way"
        );
        assert_eq!(*task.status(), TaskStatus::Completed);
        let again = task.wait().await.expect("the same");
        assert_eq!(again.all_text(), "either way");
        task.cancel().await.expect("it has ended");

        let mut task = start(&client, "held").await;
        assert_eq!(
            task.refresh().await.expect("a task").status,
            TaskStatus::Working
        );
        task.cancel().await.expect("it is cancelled");
        let error = task.wait().await.expect_err("it was cancelled");
        assert_eq!(error.reason(), bowline::Reason::Cancelled, "{error}");

        let held = start(&client, "held").await;
        let mut found = client.tasks().get(held.id()).await.expect("it is there");
        app.0.gate.notify_one();
        assert_eq!(found.wait().await.expect("a result").all_text(), "let go");
        client
            .tasks()
            .get("unknown")
            .await
            .expect_err("no such task");

        let plain = client.tools().call("plain", ()).as_task().await;
        assert!(matches!(plain, Ok(TaskOrResult::Result(_))), "{plain:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_are_listed_where_the_dialect_can() {
    let app = App::default();
    let client = over_memory(&service(&app), Revision::V2025_11_25).await;
    let ids = [start(&client, "held").await, start(&client, "held").await];
    let mut ids = ids.map(|task| task.id().to_owned());
    ids.sort();
    let mut listed: Vec<String> = client
        .tasks()
        .list()
        .await
        .expect("a list")
        .iter()
        .map(|task| task.id.to_string())
        .collect();
    listed.sort();
    assert_eq!(listed, ids);
    let client = over_memory(&service(&app), Revision::V2026_07_28).await;
    let error = client.tasks().list().await.expect_err("there is none");
    assert_eq!(error.reason(), bowline::Reason::MethodNotFound, "{error}");
}

#[tokio::test]
async fn a_saved_task_is_followed_by_another_client() {
    for revision in REVISIONS {
        let app = App::default();
        let (first, address) = over_http(&service(&app), revision).await;
        let task = start(&first, "held").await;
        let saved = serde_json::to_string(&task.saved()).expect("JSON");
        drop((task, first));
        app.0.gate.notify_one();
        let second = builder(revision)
            .connect(to(address))
            .await
            .expect("a session");
        let saved: SavedTask = serde_json::from_str(&saved).expect("a task");
        let mut task = second.tasks().resume(saved);
        assert_eq!(task.wait().await.expect("a result").all_text(), "let go");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_task_can_be_answered_by_hand_and_by_another_process() {
    let app = App::default();
    let service = service(&app);
    let nobody = Client::builder()
        .seed(1)
        .on_elicit(async |_| panic!("nobody is to be asked"));
    let client = nobody
        .connect(service.in_memory())
        .await
        .expect("a session");
    let mut task = start(&client, "name").await;
    let TaskOutcome::InputRequired(questions) = task.wait_for_input().await.expect("a question")
    else {
        panic!("it does not ask");
    };
    let (key, _) = questions.iter().next().expect("a question");
    let mut answers = InputResponses::new();
    let answer = json!({"action": "accept", "content": {"name": "Grace"}});
    answers.insert(key.to_owned(), RawJson::encode(&answer).expect("JSON"));
    task.answer(answers).await.expect("it is taken");
    let saved = task.saved();
    let mut task = client.tasks().resume(saved);
    assert_eq!(
        task.wait().await.expect("a result").all_text(),
        "Hello, Grace!"
    );
    assert_eq!(app.effects(), ["Grace"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_nothing_ends_the_call_and_cancels_the_task() {
    let app = App::default();
    let service = service(&app);
    let builder = Client::builder().seed(1).roots([Root::new("file:///x")]);
    let client = builder
        .connect(service.in_memory())
        .await
        .expect("a session");
    client
        .tools()
        .call("name", ())
        .await
        .expect_err("a question");
    assert_eq!(app.effects(), Vec::<String>::new());
}
