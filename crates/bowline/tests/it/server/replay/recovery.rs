//! What happens after a node has died, or a store has: who goes on, how soon,
//! and what is known.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline::{
    server::{
        Conversation, ErrorKind, HandlerContext, Server, Service, TaskPolicy, Tool,
        seal::SealKeys,
        store::{
            ConversationKey, JournalStore, Lease, MemoryJournalStore, MemorySealedStateStore,
            MemoryTaskStore, StoreError,
        },
    },
    transport::BoxFuture,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    app::{App, Text},
    rig::{Called, Peer, always},
    stores::{Operation, Stores, Through, Way},
};

const LEASE: Duration = Duration::from_secs(6);
/// How often somebody who waits looks again.
const LOOK: Duration = Duration::from_millis(250);

/// A node, its application, and its way to the store, which ends when it dies.
struct Node {
    service: Service<Machine>,
    alive: Arc<AtomicBool>,
    lags: Arc<AtomicBool>,
}

/// What the tools of one node have at hand.
struct Machine {
    app: Arc<App>,
    /// Whether steps never end here.
    hangs: bool,
}

/// A node's way to the store, which ends when the node dies.
struct Mortal {
    alive: Arc<AtomicBool>,
    /// Whether the store is heard ten seconds late.
    lags: Arc<AtomicBool>,
}

impl Way for Mortal {
    fn reach<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            if !self.alive.load(Ordering::SeqCst) {
                pending::<()>().await;
            }
            let lags = self.lags.load(Ordering::SeqCst);
            if lags && operation == Operation::Renew {
                sleep(Duration::from_secs(10)).await;
            }
            let done = done.await;
            if lags && operation == Operation::Append {
                sleep(Duration::from_secs(10)).await;
            }
            done
        })
    }
}

/// Asks, charges, and says what it knows of the charge.
fn pay() -> Tool<Machine> {
    tool("pay", async |cx| {
        let charged = cx.step_with_key("charge", |key| charge(&cx, key)).await;
        match charged {
            Err(error) if *error.kind() == ErrorKind::OutcomeUnknown => Ok("unknown".to_owned()),
            charged => charged,
        }
    })
}

/// The same, with somebody to ask whether it was charged.
fn look() -> Tool<Machine> {
    tool("look", async |cx| {
        cx.step_with_key("charge", |key| charge(&cx, key))
            .recover(async |key| Ok(format!("found {key}")))
            .await
    })
}

/// The same, by one who does not care.
fn careless() -> Tool<Machine> {
    tool("careless", async |cx| {
        cx.step_with_key("charge", |key| charge(&cx, key)).await
    })
}

fn tool<W>(
    name: &str,
    then: impl Fn(Conversation<Machine>) -> W + Send + Sync + 'static,
) -> Tool<Machine>
where
    W: Future<Output = bowline::server::Result<String>> + Send + 'static,
{
    let then = Arc::new(then);
    Tool::new(name)
        .description("Asks, and charges")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation<Machine>| {
            let then = Arc::clone(&then);
            async move {
                cx.state().app.note(&format!("id {}", cx.id())).await?;
                cx.elicit::<Text>("pay?").required().await?;
                then(cx).await
            }
        })
}

async fn charge(cx: &Conversation<Machine>, key: String) -> bowline::server::Result<String> {
    let machine = cx.state();
    machine.app.note(&format!("charge {key}")).await?;
    if machine.hangs {
        pending::<()>().await;
    }
    Ok("charged".to_owned())
}

fn node(app: &Arc<App>, stores: &Arc<Stores>, hangs: bool) -> Node {
    let alive = Arc::new(AtomicBool::new(true));
    let lags = Arc::new(AtomicBool::new(false));
    let way = Mortal {
        alive: Arc::clone(&alive),
        lags: Arc::clone(&lags),
    };
    let machine = Machine {
        app: Arc::clone(app),
        hangs,
    };
    let service = Server::new("recovery", "1")
        .state(machine)
        .seal_keys(SealKeys::from_secret(&[7; 32]).expect("long enough"))
        .journal_store(Through(way, Arc::clone(stores)))
        .sealed_state_store(Arc::clone(stores))
        .tools([pay(), look(), careless()])
        .build()
        .expect("the server is sound");
    Node {
        service,
        alive,
        lags,
    }
}

/// The key that was charged with, if it was.
fn charged(app: &App) -> Vec<String> {
    let noted = app.noted();
    let keys = noted.iter().filter_map(|it| it.strip_prefix("charge "));
    keys.map(str::to_owned).collect()
}

/// A node dies in the middle of a step. What another one answers to the same
/// round, and after how long.
async fn dies_in_a_step(tool: &'static str) -> (Arc<App>, String, bool, Duration) {
    let (app, stores) = (Arc::<App>::default(), Stores::new());
    let (dead, other) = (node(&app, &stores, true), node(&app, &stores, false));
    let called = Called::new(tool);
    let mut peer = Peer::new(&dead.service);
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    peer.send("tools/call", &params).await;
    while charged(&app).is_empty() {
        tokio::task::yield_now().await;
    }
    dead.alive.store(false, Ordering::SeqCst);
    let mut peer = Peer::new(&other.service);
    let began = Instant::now();
    let end = peer.ask("tools/call", &params).await;
    let waited = began.elapsed();
    for _ in 0..2 {
        assert_eq!(peer.ask("tools/call", &params).await, end, "one truth");
    }
    let (text, failed) = end.text();
    (app, text, failed, waited)
}

#[tokio::test(start_paused = true)]
async fn a_tool_can_tell_that_nobody_knows_what_came_of_a_step() {
    let (app, text, failed, waited) = dies_in_a_step("pay").await;
    assert_eq!((&*text, failed), ("unknown", false));
    assert_eq!(charged(&app).len(), 1);
    assert!(waited <= LEASE + LOOK, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_can_find_out_what_came_of_a_step() {
    let (app, text, failed, _) = dies_in_a_step("look").await;
    let [key] = &*charged(&app) else {
        panic!("{:?}", app.noted());
    };
    assert_eq!((text, failed), (format!("found {key}"), false));
}

#[tokio::test(start_paused = true)]
async fn a_model_is_told_that_nobody_knows_what_came_of_a_step() {
    let (_, text, failed, _) = dies_in_a_step("careless").await;
    assert!(
        failed && text.starts_with("Error: OutcomeUnknown: "),
        "{text}"
    );
}

/// A node hears so late from the store that another one takes it for dead. It
/// must not begin what the other one has declared unknown.
#[tokio::test(start_paused = true)]
async fn a_step_does_not_begin_after_it_was_declared_unknown() {
    let (app, stores) = (Arc::<App>::default(), Stores::new());
    let (slow, other) = (node(&app, &stores, false), node(&app, &stores, false));
    let called = Called::new("pay");
    let mut peer = Peer::new(&slow.service);
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    slow.lags.store(true, Ordering::SeqCst);
    let late = peer.send("tools/call", &params).await;
    let end = Peer::new(&other.service).ask("tools/call", &params).await;
    assert_eq!(end.text().0, "unknown");
    let late = peer.answer(late).await;
    assert!(late.refusal().contains("taken over"), "{late:?}");
    assert_eq!(charged(&app).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_has_one_name_and_each_step_a_key_of_its_own() {
    let (app, stores) = (Arc::<App>::default(), Stores::new());
    let node = node(&app, &stores, false);
    let mut peer = Peer::new(&node.service);
    for _ in 0..2 {
        let end = peer.run(&Called::new("pay"), always("yes")).await;
        assert_eq!(end.text().0, "charged");
    }
    let noted = app.noted();
    let ids: Vec<_> = noted
        .iter()
        .filter_map(|it| it.strip_prefix("id "))
        .collect();
    assert_eq!(ids.len(), 4, "two rounds each");
    assert_eq!((ids[0], ids[2]), (ids[1], ids[3]));
    assert_ne!(ids[0], ids[2]);
    let keys = charged(&app);
    assert_ne!(keys[0], keys[1]);
    let plain = |name: &&str| name.len() == 32 && name.bytes().all(|it| it.is_ascii_hexdigit());
    assert!(ids.iter().all(plain) && keys.iter().all(|key| plain(&&**key)));
}

/// Somebody has the lease, and is silent. The client is told why it waits, and
/// when it gives up and comes again, the wait goes on where it was.
#[tokio::test(start_paused = true)]
async fn the_wait_for_a_dead_node_is_short_and_is_told() {
    let (app, stores) = (Arc::<App>::default(), Stores::new());
    let node = node(&app, &stores, false);
    let called = Called::new("pay");
    let mut peer = Peer::new(&node.service);
    peer.meta["progressToken"] = "wait".into();
    let asked = peer.begin(&called).await.questions();
    let noted = app.noted();
    let id = noted[0].strip_prefix("id ").expect("its name");
    let dead = Lease::new("dead", LEASE);
    let opened = stores
        .open(ConversationKey::new(id, ""), 0, dead)
        .await
        .expect("it opens");
    assert!(opened.acquired);
    let began = Instant::now();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    let first = peer.send("tools/call", &params).await;
    sleep(LEASE / 2).await;
    peer.cancel(first).await;
    let end = peer.ask("tools/call", &params).await;
    assert_eq!(end.text().0, "charged");
    assert!(began.elapsed() <= LEASE + LOOK, "{:?}", began.elapsed());
    let told = peer.told.iter();
    let told: Vec<_> = told
        .filter(|note| note["method"] == "notifications/progress")
        .collect();
    assert!(told.len() > 2, "{told:?}");
    let message = "Another node works on this request";
    assert!(told.iter().all(|note| note["params"]["message"] == message));
}

/// Who waits for a node that is alive is told when it is done, and not some
/// time later.
#[tokio::test(start_paused = true)]
async fn who_waits_in_the_same_process_waits_no_longer_than_needed() {
    let tool = Tool::new("slow")
        .description("Takes its time")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("q").required().await?;
            let slow = async {
                sleep(Duration::from_millis(12_345)).await;
                Ok("done".to_owned())
            };
            cx.step("slow", slow).await
        });
    let server = Server::new("slow", "1").state(App::default()).tool(tool);
    let service = server.build().expect("the server is sound");
    let called = Called::new("slow");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    let began = Instant::now();
    let one = peer.send("tools/call", &params).await;
    let two = peer.send("tools/call", &params).await;
    for id in [one, two] {
        assert_eq!(peer.answer(id).await.text().0, "done");
    }
    assert_eq!(began.elapsed(), Duration::from_millis(12_345));
}

/// The store wrote an entry, and nobody heard of it.
#[tokio::test(start_paused = true)]
async fn an_entry_that_was_written_unheard_is_recognised() {
    for unheard in 1..=2 {
        let (app, stores) = (Arc::<App>::default(), Stores::new());
        let node = node(&app, &stores, false);
        let called = Called::new("careless");
        let mut peer = Peer::new(&node.service);
        let asked = peer.begin(&called).await.questions();
        let answers = asked.answers(always("yes"));
        stores.answer_nothing(unheard);
        for _ in 0..2 {
            let end = peer.go_on(&called, &asked.state, &answers).await;
            assert_eq!(end.text(), ("charged".to_owned(), false), "{unheard}");
        }
        assert_eq!(charged(&app).len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn stores_hold_nothing_that_they_could_read() {
    let stores = Stores::new();
    let tool = Tool::new("secret")
        .description("Knows a secret")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("q").required().await?;
            let step = cx.step("hush", async { Ok("a secret".to_owned()) }).await?;
            cx.elicit::<Text>("r").required().await?;
            Ok(step)
        });
    let server = Server::new("secret", "1").state(App::default()).tool(tool);
    let server = server
        .journal_store(Arc::clone(&stores))
        .sealed_state_store(Arc::clone(&stores))
        .max_sealed_state_bytes(0);
    let service = server.build().expect("the server is sound");
    let mut peer = Peer::new(&service);
    let end = peer.run(&Called::new("secret"), always("a secret")).await;
    assert_eq!(end.text().0, "a secret");
    let values = stores.values();
    assert!(
        values.len() > 4,
        "entries, an answer and states: {values:?}"
    );
    for value in values {
        let found = value
            .windows(6)
            .any(|it| it == b"secret" || it == b"hush#0");
        assert!(!found, "{value:?}");
    }
}

/// A server whose keys others have, or a later run.
fn with_secret() -> Server<App> {
    let book = Tool::new("book")
        .description("Books once")
        .no_input()
        .phases()
        .before(async |_, _: HandlerContext<App>| Ok(()))
        .ask(async |(), cx: Conversation<App>| cx.confirm("Book?").await)
        .after(async |(), (), cx: HandlerContext<App>| cx.state().note("booked").await);
    Server::new("secret", "1")
        .state(App::default())
        .tool(book)
        .seal_keys(SealKeys::from_secret(&[7; 32]).expect("long enough"))
}

#[test]
fn keys_that_outlive_the_process_need_stores() {
    let error = with_secret().build().expect_err("no stores");
    assert_eq!(error.name(), "journal_store");
    assert_eq!(
        error.to_string(),
        "the server cannot be built: it has a secret (`seal_keys`), so other nodes and later \
         runs can open its sealed state, but no `journal_store`; set one that they share, or \
         one in memory if the server is a single process",
    );
    let server = with_secret().journal_store(MemoryJournalStore::new());
    let error = server.build().expect_err("one store");
    assert!(
        error.to_string().contains("`sealed_state_store`"),
        "{error}"
    );
    let server = with_secret().journal_store(MemoryJournalStore::new());
    let server = server.sealed_state_store(MemorySealedStateStore::new());
    assert!(server.build().is_ok(), "told that it is meant");
}

#[test]
fn keys_that_outlive_the_process_need_a_store_of_tasks_if_there_may_be_any() {
    let server = || {
        let print: Tool<App> = Tool::new("print")
            .description("Prints for hours")
            .no_input()
            .task(TaskPolicy::Optional)
            .handler(async |_| Ok("printed"));
        with_secret()
            .tool(print)
            .journal_store(MemoryJournalStore::new())
            .sealed_state_store(MemorySealedStateStore::new())
    };
    let error = server().build().expect_err("no store of tasks");
    assert_eq!(error.name(), "task_store");
    assert!(error.to_string().contains("no `task_store`"), "{error}");
    let server = server().task_store(MemoryTaskStore::default());
    assert!(server.build().is_ok(), "told that it is meant");
}

/// Even if somebody says that it is meant, what is forgotten is not done again.
#[tokio::test(start_paused = true)]
async fn a_restart_books_nothing_again() {
    let run = || {
        let server = with_secret().journal_store(MemoryJournalStore::new());
        server
            .sealed_state_store(MemorySealedStateStore::new())
            .build()
            .expect("it is meant")
    };
    let (first, second) = (run(), run());
    let called = Called::new("book");
    let mut peer = Peer::new(&first);
    let asked = peer.begin(&called).await.questions();
    let yes = asked.answers(|_, _| json!({"action": "accept", "content": {"confirmed": true}}));
    let end = peer.go_on(&called, &asked.state, &yes).await;
    assert_eq!(end.text().0, "booked");
    assert_eq!(first.state().noted(), ["booked"]);
    let again = Peer::new(&second).go_on(&called, &asked.state, &yes).await;
    assert!(
        again.refusal().contains("requestState was rejected"),
        "{again:?}"
    );
    assert!(second.state().noted().is_empty());
}
