//! A store that forgets what it has written: steps may run again then, but no
//! conversation is stuck.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use bowline::{
    server::{
        Conversation, Server, Service, Tool,
        seal::SealKeys,
        store::{
            AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore,
            MemorySealedStateStore, NewEntry, OpenedJournal, StoreError,
        },
    },
    transport::BoxFuture,
};

use super::{
    app::{App, Text},
    rig::{Called, Peer, always},
};
use crate::sync::lock;

/// Journals that can be forgotten.
#[derive(Default)]
struct Forgetful(Mutex<Arc<MemoryJournalStore>>);

impl Forgetful {
    fn forget(&self) {
        *lock(&self.0) = Arc::default();
    }

    fn journals(&self) -> Arc<MemoryJournalStore> {
        Arc::clone(&lock(&self.0))
    }
}

impl JournalStore for Forgetful {
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
}

/// Asks which step to run. The step ends when the test says so.
fn choose() -> Tool<Arc<App>> {
    Tool::new("choose")
        .description("Runs a step")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
            let which = cx.elicit::<Text>("which?").required().await?.text;
            cx.step("step", async {
                cx.state().note(&format!("{which} began")).await?;
                cx.state().until(&format!("{which} may end")).await;
                Ok(())
            })
            .await?;
            cx.state().note(&format!("{which} is stored")).await?;
            if which == "x" {
                pending::<()>().await;
            }
            Ok("chosen")
        })
}

fn node(app: &Arc<App>, journals: &Arc<Forgetful>) -> Service<Arc<App>> {
    let keys = SealKeys::from_secret(&[7; 32]).expect("a secret");
    let server = Server::new("forgets", "1")
        .state(Arc::clone(app))
        .tool(choose());
    let server = server.seal_keys(keys).journal_store(Arc::clone(journals));
    let server = server.sealed_state_store(MemorySealedStateStore::new());
    server.build().expect("the server is sound")
}

#[tokio::test(start_paused = true)]
async fn a_late_result_of_a_forgotten_course_does_not_block_the_one_that_follows() {
    let (app, journals) = (Arc::<App>::default(), Arc::<Forgetful>::default());
    let mut first = Peer::new(&node(&app, &journals));
    let mut second = Peer::new(&node(&app, &journals));
    let called = Called::new("choose");
    let asked = first.begin(&called).await.questions();
    let params = |answer| called.later(&asked.state, &asked.answers(always(answer)));
    let forgotten = first.send("tools/call", &params("x")).await;
    app.until("x began").await;
    journals.forget();
    let chosen = second.send("tools/call", &params("y")).await;
    app.until("y began").await;
    // The first node stores its result after the beginning of the other course, and dies.
    let _ = app.note("x may end").await;
    app.until("x is stored").await;
    first.cancel(forgotten).await;
    let _ = app.note("y may end").await;
    let refused = second.answer(chosen).await;
    let repeat = "taken over by another node: repeat the request";
    assert!(refused.refusal().contains(repeat), "{refused:?}");

    let (text, is_error) = second.ask("tools/call", &params("y")).await.text();
    assert!(
        is_error && text.contains("its outcome is unknown"),
        "{text}"
    );
    let other = first.ask("tools/call", &params("x")).await;
    assert!(other.refusal().contains("with other answers"), "{other:?}");
    // The end stays.
    let again = second.ask("tools/call", &params("y")).await;
    assert_eq!(again.text(), (text, true));
}
