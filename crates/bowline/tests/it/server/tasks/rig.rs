//! A server with tasks, and the clients of both dialects.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bowline::{
    Server,
    server::{
        Conversation, Error, HandlerContext, Service, TaskOptions, TaskPolicy, Tool,
        form::Elicit,
        seal::SealKeys,
        store::{
            ClaimedTask, ConversationKey, CreateOutcome, Lease, MemoryTaskStore, NewTask,
            StoreError, StoredTask, TaskStore, TaskUpdate, UpdateOutcome,
        },
    },
    transport::{BoxFuture, MemoryLink},
};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::sleep};

use super::{
    super::replay::{
        rig::{Peer, Round},
        stores::Stores,
    },
    faults::FaultyTasks,
};

/// What the tools of a test share: their effects, and a gate to hold them.
#[derive(Clone, Default)]
pub(super) struct App(Arc<Inner>);

#[derive(Default)]
struct Inner {
    effects: Mutex<Vec<String>>,
    /// How many calls wait at the gate.
    waiting: AtomicU32,
    gate: Notify,
}

impl App {
    pub(super) fn effects(&self) -> Vec<String> {
        crate::sync::lock(&self.0.effects).clone()
    }

    fn effect(&self, what: &str) {
        crate::sync::lock(&self.0.effects).push(what.to_owned());
    }

    async fn pass_gate(&self) {
        self.0.waiting.fetch_add(1, Ordering::SeqCst);
        self.0.gate.notified().await;
    }

    /// Lets one call through, now or when it comes.
    pub(super) fn open_gate(&self) {
        self.0.gate.notify_one();
    }

    /// Waits until a call is at the gate.
    pub(super) async fn wait_at_gate(&self) {
        while self.0.waiting.load(Ordering::SeqCst) == 0 {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

#[derive(Elicit)]
struct Name {
    name: String,
}

fn tool(
    name: &str,
    policy: TaskPolicy,
) -> bowline::server::tool::ToolBuilder<
    bowline::server::tool::WithDescription,
    bowline::server::tool::WithInput<bowline::server::NoArguments>,
> {
    Tool::new(name)
        .description("A test")
        .no_input()
        .task(policy)
}

/// The tools of both dialects.
fn tools() -> Vec<Tool<App>> {
    use TaskPolicy::{After, Optional, Required};
    vec![
        tool("hello", Optional).handler(async |_| Ok("Hello!")),
        tool("fails", Required).handler(async |_| Err::<String, _>(Error::failed("no paper"))),
        tool("name", Optional).handler_with_conversation(async |_, cx: Conversation<App>| {
            let name = cx
                .elicit::<Name>("Your name?")
                .key("name")
                .required()
                .await?
                .name;
            cx.step("greet", async {
                cx.state().effect(&name);
                Ok(())
            })
            .await?;
            Ok(format!("Hello, {name}!"))
        }),
        // Two steps with a gate between them.
        tool("steps", Optional).handler_with_conversation(async |_, cx: Conversation<App>| {
            for step in ["one", "two"] {
                cx.step(step, async {
                    cx.state().effect(step);
                    Ok(())
                })
                .await?;
                if step == "one" {
                    cx.progress_with_message(1.0, 2.0, "one is done");
                    cx.state().pass_gate().await;
                }
            }
            Ok("both")
        }),
        // A step that does not end before the gate opens.
        tool("held", Optional).handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.step("hold", async {
                cx.state().effect("hold");
                cx.state().pass_gate().await;
                Ok(())
            })
            .await?;
            Ok("held")
        }),
        tool("slow", After(Duration::from_millis(50))).handler_with_conversation(
            async |_, cx: Conversation<App>| {
                let name = cx
                    .elicit::<Name>("Your name?")
                    .key("name")
                    .required()
                    .await?
                    .name;
                cx.state().pass_gate().await;
                Ok(format!("Slowly, {name}"))
            },
        ),
        tool("later", After(Duration::from_millis(50))).handler_with_conversation(
            async |_, cx: Conversation<App>| {
                cx.state().pass_gate().await;
                Ok("later")
            },
        ),
        // A handler that can make no steps of its own.
        tool("reports", Optional).handler_with_context(async |_, cx: HandlerContext<App>| {
            cx.state().effect("report");
            cx.progress_with_message(1.0, 2.0, "half of it");
            cx.state().pass_gate().await;
            Ok("reported")
        }),
        Tool::new("plain")
            .description("No task")
            .no_input()
            .handler(async |_| Ok("plain")),
    ]
}

pub(super) fn server(app: &App) -> Server<App> {
    Server::new("tasks", "1").state(app.clone()).tools(tools())
}

pub(super) fn service(app: &App) -> Service<App> {
    build(server(app))
}

/// A server with a store in memory, and its way there.
pub(super) fn faulty_service(app: &App) -> (Service<App>, Arc<FaultyTasks>) {
    let way = FaultyTasks::new(Arc::new(MemoryTaskStore::default()));
    (build(server(app).task_store(Arc::clone(&way))), way)
}

fn build(server: Server<App>) -> Service<App> {
    server.build().expect("the server is sound")
}

/// How long a node may be silent.
pub(super) const LEASE: Duration = Duration::from_millis(300);

/// Stores that several nodes share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) stores: Arc<Stores>,
    pub(super) tasks: Arc<SharedTasks>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            stores: Stores::new(),
            tasks: Arc::default(),
        }
    }

    /// A node that uses them.
    pub(super) fn node(&self, app: &App) -> Service<App> {
        let options = TaskOptions::new().poll_interval(Duration::from_millis(10));
        self.node_with(app, options)
    }

    /// The same, with other limits.
    pub(super) fn node_with(&self, app: &App, options: TaskOptions) -> Service<App> {
        build(self.server(app, 7).task_options(options))
    }

    /// A node that cannot open what the others store.
    pub(super) fn node_with_other_key(&self, app: &App) -> Service<App> {
        build(self.server(app, 8))
    }

    /// A node that does not have a tool of the others.
    pub(super) fn node_without_tool(&self, app: &App, tool: &str) -> Service<App> {
        let node = self.node(app);
        assert!(node.remove_tool(tool), "it has the tool");
        node
    }

    /// A node, and its way to the tasks.
    pub(super) fn faulty_node(&self, app: &App) -> (Service<App>, Arc<FaultyTasks>) {
        let way = FaultyTasks::new(Arc::clone(&self.tasks) as _);
        let server = self.server(app, 7).task_store(Arc::clone(&way));
        (build(server), way)
    }

    fn server(&self, app: &App, secret: u8) -> Server<App> {
        let keys = SealKeys::from_secret(&[secret; 32]).expect("a secret");
        server(app)
            .seal_keys(keys)
            .journal_store(Arc::clone(&self.stores))
            .sealed_state_store(Arc::clone(&self.stores))
            .task_store(Arc::clone(&self.tasks))
            .lease_timeout(LEASE)
    }
}

/// Tasks in memory that pass for those of a fleet.
#[derive(Debug, Default)]
pub(super) struct SharedTasks {
    tasks: MemoryTaskStore,
    values: Mutex<Vec<bytes::Bytes>>,
    /// The tasks that were taken over.
    claimed: Mutex<Vec<String>>,
}

impl SharedTasks {
    /// Everything that was given to the store.
    pub(super) fn values(&self) -> Vec<bytes::Bytes> {
        crate::sync::lock(&self.values).clone()
    }

    /// The ids of the tasks that were taken over.
    pub(super) fn claimed(&self) -> Vec<String> {
        crate::sync::lock(&self.claimed).clone()
    }
}

impl TaskStore for SharedTasks {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        crate::sync::lock(&self.values).push(task.value.clone());
        self.tasks.create(key, task)
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        self.tasks.load(key)
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        crate::sync::lock(&self.values).push(update.value.clone());
        self.tasks.update(key, update)
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.tasks.renew(key, lease)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        Box::pin(async move {
            let claimed = self.tasks.claim(lease).await?;
            let id = claimed.as_ref().map(|task| task.id.clone());
            crate::sync::lock(&self.claimed).extend(id);
            Ok(claimed)
        })
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        self.tasks.list(account, after, limit)
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        self.tasks.wait_for_change(key)
    }
}

/// A client of the extension.
pub(super) struct ExtensionPeer(pub(super) Peer);

impl ExtensionPeer {
    pub(super) fn new(service: &Service<App>) -> Self {
        Self::declaring(Peer::new(service))
    }

    pub(super) fn known(service: &Service<App>, name: &str) -> Self {
        Self::declaring(Peer::known(service, name))
    }

    fn declaring(mut peer: Peer) -> Self {
        let capabilities = &mut peer.meta["io.modelcontextprotocol/clientCapabilities"];
        capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        Self(peer)
    }

    /// Calls a tool.
    pub(super) async fn call(&mut self, tool: &str) -> Round {
        self.0
            .ask("tools/call", &json!({"name": tool, "arguments": {}}))
            .await
    }

    /// Calls a tool, and returns the id of the task that it became.
    pub(super) async fn create(&mut self, tool: &str) -> String {
        let created = self.call(tool).await;
        let Round::Ended(created) = created else {
            panic!("it became no task: {created:?}");
        };
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].as_str().expect("an id").to_owned()
    }

    pub(super) async fn get(&mut self, id: &str) -> Value {
        match self.0.ask("tasks/get", &json!({"taskId": id})).await {
            Round::Ended(task) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    /// Asks for a task until it has this status.
    pub(super) async fn wait(&mut self, id: &str, status: &str) -> Value {
        loop {
            let task = self.get(id).await;
            if task["status"] == status {
                return task;
            }
            let is_going_on = ["working", "input_required"].map(Value::from);
            assert!(is_going_on.contains(&task["status"]), "{task}");
            sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) async fn update(&mut self, id: &str, answers: &Value) -> Round {
        let params = json!({"taskId": id, "inputResponses": answers});
        self.0.ask("tasks/update", &params).await
    }

    pub(super) async fn cancel(&mut self, id: &str) -> Round {
        self.0.ask("tasks/cancel", &json!({"taskId": id})).await
    }
}

/// A client of the core dialect, with a session.
pub(super) struct CorePeer {
    link: MemoryLink,
    next: u64,
    /// What came that nobody waited for.
    pub(super) arrived: Vec<Value>,
}

impl CorePeer {
    pub(super) async fn new(service: &Service<App>) -> Self {
        let (link, far) = MemoryLink::pair();
        let service = service.clone();
        tokio::spawn(async move { service.serve(far).await });
        let mut peer = Self {
            link,
            next: 0,
            arrived: Vec::new(),
        };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "rig", "version": "1"},
        });
        let opened = peer.ask("initialize", &params).await;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
        let declared = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
        assert_eq!(opened["result"]["capabilities"]["tasks"], declared);
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        peer
    }

    pub(super) async fn send(&mut self, frame: &Value) {
        assert!(self.link.send_frame(frame.to_string().into()).await);
    }

    pub(super) async fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(super) async fn receive(&mut self) -> Value {
        let frame = tokio::time::timeout(Duration::from_secs(600), self.link.recv()).await;
        let frame = frame.expect("the server answers").expect("a frame");
        serde_json::from_slice(&frame).expect("JSON")
    }

    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let frame = self.receive().await;
            if frame["id"] == id && frame.get("method").is_none() {
                return frame;
            }
            self.arrived.push(frame);
        }
    }

    pub(super) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool as a task, and returns the answer.
    pub(super) async fn call(&mut self, tool: &str) -> Value {
        let params = json!({"name": tool, "arguments": {}, "task": {"ttl": 60_000}});
        self.ask("tools/call", &params).await
    }

    /// The same, and returns the id of the task.
    pub(super) async fn create(&mut self, tool: &str) -> String {
        let created = self.call(tool).await;
        let task = &created["result"]["task"];
        assert_eq!(
            (&task["status"], &task["ttl"]),
            (&json!("working"), &json!(60_000))
        );
        task["taskId"].as_str().expect("an id").to_owned()
    }
}
