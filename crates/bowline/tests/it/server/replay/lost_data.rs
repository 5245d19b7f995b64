//! A store that loses its data while a round is on its way to it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use bowline::{
    server::{
        Conversation, Server, Tool,
        form::Elicit,
        seal::SealKeys,
        store::{
            AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore,
            MemorySealedStateStore, NewEntry, OpenedJournal, StoreError,
        },
    },
    transport::BoxFuture,
};
use serde_json::json;

use super::rig::{Called, Peer, Round};
use crate::sync::lock;

/// Loses its data before the next operation, of which another round has learned already.
#[derive(Clone, Default)]
struct Losing(Arc<Inner>);

#[derive(Default)]
struct Inner {
    journals: Mutex<Arc<MemoryJournalStore>>,
    generation: AtomicU32,
    is_armed: AtomicBool,
}

impl Losing {
    fn journals(&self) -> Arc<MemoryJournalStore> {
        if self.0.is_armed.swap(false, Ordering::SeqCst) {
            *lock(&self.0.journals) = Arc::default();
            self.0.generation.fetch_add(1, Ordering::SeqCst);
        }
        Arc::clone(&lock(&self.0.journals))
    }
}

impl JournalStore for Losing {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move { self.journals().open(key, from, lease).await })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move { self.journals().append(key, entry).await })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.journals().renew(key, lease).await })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.journals().release(key, holder).await })
    }

    fn generation(&self) -> Option<Arc<str>> {
        let generation = self.0.generation.load(Ordering::SeqCst);
        Some(generation.to_string().into())
    }
}

#[derive(Elicit)]
struct Name {
    name: String,
}

#[tokio::test(start_paused = true)]
async fn a_round_that_is_on_its_way_while_data_is_lost_runs_no_step_again() {
    let (store, effects) = (Losing::default(), Arc::new(AtomicU32::new(0)));
    let greet = Tool::new("greet")
        .description("Greets")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<Arc<AtomicU32>>| {
            let name = cx.elicit::<Name>("Your name?").key("name").required();
            let name = name.await?.name;
            let effect = async { Ok(cx.state().fetch_add(1, Ordering::SeqCst)) };
            cx.step("greet", effect).await?;
            Ok(format!("Hello, {name}!"))
        });
    let service = Server::new("greeter", "1.0.0")
        .state(Arc::clone(&effects))
        .seal_keys(SealKeys::from_secret(&[7; 32]).expect("it is long enough"))
        .journal_store(store.clone())
        .sealed_state_store(MemorySealedStateStore::new())
        .tool(greet)
        .build()
        .expect("it is complete");
    let mut peer = Peer::new(&service);
    let called = Called {
        tool: "greet",
        arguments: json!({}),
    };
    let Round::Asked(questions) = peer.begin(&called).await else {
        panic!("it asks");
    };
    let answers = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    let ended = peer.go_on(&called, &questions.state, &answers).await;
    assert_eq!(ended.text().0, "Hello, Ada!");

    store.0.is_armed.store(true, Ordering::SeqCst);
    let again = peer.go_on(&called, &questions.state, &answers).await;
    let Round::Refused(_, why) = again else {
        panic!("its journal is lost: {again:?}");
    };
    assert!(why.contains("has lost its data"), "{why}");
    assert_eq!(effects.load(Ordering::SeqCst), 1);
    let again = peer.go_on(&called, &questions.state, &answers).await;
    assert!(
        matches!(again, Round::Refused(-32602, _)),
        "from then on its state is rejected: {again:?}"
    );
}
