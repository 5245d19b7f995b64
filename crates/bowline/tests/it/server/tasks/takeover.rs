//! Tasks whose node dies, or loses touch: another goes on, and nothing happens twice.

use std::time::Duration;

use bowline::server::{
    Service, TaskOptions,
    store::{ConversationKey, Lease, NewTask, TaskStore as _},
};
use serde_json::json;
use tokio::{
    runtime::{Builder, Runtime},
    time::{sleep, timeout},
};

use super::{
    faults::Operation,
    rig::{App, ExtensionPeer, LEASE, Shared},
};

/// A node with a runtime of its own, which dies with everything that it runs.
struct Node {
    runtime: Runtime,
    service: Service<App>,
}

impl Node {
    fn new(shared: &Shared, app: &App) -> Self {
        Self::of(shared.node(app))
    }

    fn of(service: Service<App>) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        Self { runtime, service }
    }

    /// Creates a task at this node.
    async fn create(&self, tool: &'static str) -> String {
        let service = self.service.clone();
        let created = self.runtime.spawn(async move {
            let mut client = ExtensionPeer::new(&service);
            client.create(tool).await
        });
        created.await.expect("a task")
    }

    /// Returns when nothing of it runs any more: it could take what is meant for
    /// another node.
    async fn die(self) {
        let end = move || self.runtime.shutdown_timeout(Duration::from_secs(60));
        let ended = tokio::task::spawn_blocking(end).await;
        ended.expect("the runtime ends");
    }
}

#[tokio::test]
async fn another_node_goes_on_and_repeats_no_step() {
    let (shared, app) = (Shared::new(), App::default());
    let node = Node::new(&shared, &app);
    let id = node.create("steps").await;
    app.wait_at_gate().await;
    node.die().await;
    let second = shared.node(&app);
    app.open_gate();
    let mut client = ExtensionPeer::new(&second);
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "both");
    assert_eq!(app.effects(), ["one", "two"]);
}

#[tokio::test]
async fn a_step_whose_end_is_not_known_is_reported_and_not_repeated() {
    let (shared, app) = (Shared::new(), App::default());
    let node = Node::new(&shared, &app);
    let id = node.create("held").await;
    app.wait_at_gate().await;
    node.die().await;
    let second = shared.node(&app);
    let mut client = ExtensionPeer::new(&second);
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["isError"], true);
    let text = task["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("its outcome is unknown"), "{text}");
    assert_eq!(app.effects(), ["hold"]);
}

#[tokio::test]
async fn a_handler_with_a_context_is_not_run_again() {
    let (shared, app) = (Shared::new(), App::default());
    let node = Node::new(&shared, &app);
    let id = node.create("reports").await;
    app.wait_at_gate().await;
    node.die().await;
    let second = shared.node(&app);
    let mut client = ExtensionPeer::new(&second);
    // A second run would wait at the gate, which stays closed.
    let waiting = client.wait(&id, "completed");
    let task = timeout(Duration::from_secs(60), waiting).await;
    let task = task.expect("it does not run again");
    assert_eq!(task["result"]["isError"], true);
    let text = task["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("its outcome is unknown"), "{text}");
    assert_eq!(app.effects(), ["report"]);
}

/// Two nodes in virtual time, of which the first runs one task at a time.
fn busy_node(shared: &Shared, app: &App) -> [Service<App>; 2] {
    let options = TaskOptions::new().max_running(1);
    [shared.node_with(app, options), shared.node(app)]
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_its_turn_keeps_its_lease() {
    let (shared, app) = (Shared::new(), App::default());
    let [first, second] = busy_node(&shared, &app);
    let mut client = ExtensionPeer::new(&first);
    let mut other = ExtensionPeer::new(&second);
    // Now the second node looks for abandoned tasks.
    other.create("hello").await;
    let running = client.create("held").await;
    app.wait_at_gate().await;
    let waiting = client.create("hello").await;
    sleep(20 * LEASE).await;
    assert_eq!(shared.tasks.claimed(), [""; 0]);
    assert_eq!(client.get(&waiting).await["status"], "working");
    app.open_gate();
    client.wait(&running, "completed").await;
    client.wait(&waiting, "completed").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_before_its_turn_never_runs() {
    let (shared, app) = (Shared::new(), App::default());
    let [first, _] = busy_node(&shared, &app);
    let mut client = ExtensionPeer::new(&first);
    let running = client.create("held").await;
    app.wait_at_gate().await;
    let waiting = client.create("reports").await;
    client.cancel(&waiting).await;
    app.open_gate();
    client.wait(&running, "completed").await;
    assert_eq!(client.get(&waiting).await["status"], "cancelled");
    // Its turn is someone else's.
    let last = client.create("hello").await;
    client.wait(&last, "completed").await;
    assert_eq!(app.effects(), ["hold"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_becomes_a_task_only_when_it_is_its_turn() {
    let (shared, app) = (Shared::new(), App::default());
    let [first, second] = busy_node(&shared, &app);
    let mut client = ExtensionPeer::new(&first);
    let mut other = ExtensionPeer::new(&second);
    other.create("hello").await;
    let running = client.create("held").await;
    app.wait_at_gate().await;
    let service = first.clone();
    let late = tokio::spawn(async move { ExtensionPeer::new(&service).create("later").await });
    sleep(20 * LEASE).await;
    assert!(!late.is_finished(), "it is still a call");
    assert_eq!(shared.tasks.claimed(), [""; 0]);
    app.open_gate();
    client.wait(&running, "completed").await;
    let late = late.await.expect("it is a task");
    app.open_gate();
    let task = client.wait(&late, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "later");
    assert_eq!(shared.tasks.claimed(), [""; 0]);
}

#[tokio::test]
async fn a_node_that_lost_its_lease_has_no_more_effects() {
    let (shared, app) = (Shared::new(), App::default());
    let (service, way) = shared.faulty_node(&app);
    let (first, second) = (Node::of(service), Node::new(&shared, &app));
    let id = first.create("steps").await;
    app.wait_at_gate().await;
    way.cut_off(&[Operation::Renew, Operation::Claim]);
    // The second node begins to look for abandoned tasks.
    second.create("hello").await;
    let mut client = ExtensionPeer::new(&second.service);
    // Both are at the gate by then, and pass it: the first one too.
    for _ in 0..2 {
        app.open_gate();
        sleep(Duration::from_millis(400)).await;
    }
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "both");
    assert_eq!(app.effects(), ["one", "two"]);
    first.die().await;
    second.die().await;
}

#[tokio::test]
async fn answers_may_go_to_any_node() {
    let (shared, app) = (Shared::new(), App::default());
    let node = Node::new(&shared, &app);
    let id = node.create("name").await;
    let second = shared.node(&app);
    let mut client = ExtensionPeer::new(&second);
    client.wait(&id, "input_required").await;
    node.die().await;
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    client.update(&id, &answer).await;
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "Hello, Ada!");
}

/// Stores tasks that no node can open, and that nobody works on.
async fn store_unreadable_tasks(shared: &Shared, count: usize) {
    for number in 0..count {
        let (id, lease) = (format!("{number:032x}"), Lease::new("gone", Duration::ZERO));
        let task = NewTask::new("not sealed", lease, 1000 * LEASE);
        let key = ConversationKey::new(&id, "someone");
        shared.tasks.create(key, task).await.expect("it is stored");
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_cannot_be_opened_do_not_hold_up_those_behind_them() {
    let (shared, app) = (Shared::new(), App::default());
    store_unreadable_tasks(&shared, 40).await;
    let (first, way) = shared.faulty_node(&app);
    let mut client = ExtensionPeer::new(&first);
    way.cut_off(&[Operation::Renew, Operation::Claim]);
    let id = client.create("held").await;
    app.wait_at_gate().await;
    let mut other = ExtensionPeer::new(&shared.node(&app));
    other.create("hello").await;
    let taken_over = async {
        while !shared.tasks.claimed().contains(&id) {
            sleep(LEASE / 10).await;
        }
    };
    let taken_over = timeout(4 * LEASE, taken_over).await;
    taken_over.expect("it is not behind the others");
}

#[tokio::test(start_paused = true)]
async fn a_node_without_the_key_leaves_tasks_to_others() {
    let (shared, app) = (Shared::new(), App::default());
    store_unreadable_tasks(&shared, 1).await;
    let mut client = ExtensionPeer::new(&shared.node_with_other_key(&app));
    client.create("hello").await;
    for _ in 0..10 {
        sleep(LEASE).await;
        let lease = Lease::new("has the key", Duration::ZERO);
        let claimed = shared.tasks.claim(lease).await.expect("it works");
        assert!(claimed.is_some(), "nobody holds it");
    }
}

#[tokio::test]
async fn a_store_outside_sees_nothing() {
    let (shared, app) = (Shared::new(), App::default());
    let node = shared.node(&app);
    let mut client = ExtensionPeer::known(&node, "ada lovelace");
    let id = client.create("name").await;
    client.wait(&id, "input_required").await;
    let values = shared.tasks.values();
    assert!(values.len() > 1);
    for value in values {
        let text = String::from_utf8_lossy(&value);
        for secret in ["ada lovelace", "Your name?", "elicitation", &*id] {
            assert!(!text.contains(secret), "{secret} can be read");
        }
    }
}

/// Waits until a task was looked at by a node that takes over tasks, this many times.
async fn wait_for_claims(shared: &Shared, id: &str, count: usize) {
    let claims = || shared.tasks.claimed().iter().filter(|it| *it == id).count();
    while claims() < count {
        sleep(LEASE / 10).await;
    }
}

#[tokio::test]
async fn a_node_without_the_tool_leaves_tasks_to_others() {
    let (shared, app) = (Shared::new(), App::default());
    let node = Node::new(&shared, &app);
    let id = node.create("steps").await;
    app.wait_at_gate().await;
    node.die().await;
    app.open_gate();
    let older = shared.node_without_tool(&app, "steps");
    let mut client = ExtensionPeer::new(&older);
    client.create("hello").await;
    let looked_at = timeout(Duration::from_secs(60), wait_for_claims(&shared, &id, 3)).await;
    looked_at.expect("it is left to others, again and again");
    assert_eq!(client.get(&id).await["status"], "working");
    // A node with the tool is started.
    let mut client = ExtensionPeer::new(&shared.node(&app));
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "both");
    assert_eq!(app.effects(), ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn a_node_without_the_tool_takes_answers_for_those_that_have_it() {
    let (shared, app) = (Shared::new(), App::default());
    let mut client = ExtensionPeer::new(&shared.node(&app));
    let id = client.create("name").await;
    client.wait(&id, "input_required").await;
    let mut older = ExtensionPeer::new(&shared.node_without_tool(&app, "name"));
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    older.update(&id, &answer).await;
    let task = client.wait(&id, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(shared.tasks.claimed(), [id]);
}

/// The tool is removed while its task waits for its turn.
#[tokio::test(start_paused = true)]
async fn a_node_that_loses_the_tool_gives_the_task_back() {
    let (shared, app) = (Shared::new(), App::default());
    let [first, second] = busy_node(&shared, &app);
    let mut client = ExtensionPeer::new(&first);
    let mut other = ExtensionPeer::new(&second);
    let held = client.create("held").await;
    app.wait_at_gate().await;
    let waiting = client.create("hello").await;
    assert!(first.remove_tool("hello"), "it had the tool");
    app.open_gate();
    client.wait(&held, "completed").await;
    // The second node begins to look for abandoned tasks.
    other.create("reports").await;
    let task = client.wait(&waiting, "completed").await;
    assert_eq!(task["result"]["content"][0]["text"], "Hello!");
}
