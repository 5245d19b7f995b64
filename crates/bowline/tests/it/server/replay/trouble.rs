//! Stores out of order, clocks that disagree, states that are too large.

use std::{sync::Arc, time::Duration};

use bowline::server::{
    Conversation, Server, Service, Tool,
    store::{MemoryJournalStore, MemorySealedStateStore},
};

use tokio::time::Instant;

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always},
    stores::Stores,
};

/// Asks, takes a step, whose failure it passes over, and asks again.
fn pay() -> Tool<App> {
    Tool::new("pay")
        .description("A question, a step, a question")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("first").required().await?;
            let paid = cx.step("pay", cx.state().note("paid")).await;
            let said = paid.unwrap_or_else(|error| error.to_string());
            cx.elicit::<Text>("second").required().await?;
            Ok(said)
        })
}

fn server() -> Server<App> {
    Server::new("trouble", "1")
        .state(App::default())
        .tool(pay())
}

fn with(stores: &Arc<Stores>) -> Service<App> {
    let server = server()
        .journal_store(Arc::clone(stores))
        .sealed_state_store(Arc::clone(stores));
    server.build().expect("the server is sound")
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_only_delays() {
    let stores = Stores::new();
    let service = with(&stores);
    let called = Called::new("pay");
    // Entries are tried three times.
    for (what, times) in [("open", 1), ("append", 3)] {
        service.state().forget();
        let mut peer = Peer::new(&service);
        let first = peer.begin(&called).await.questions();
        let answers = first.answers(always("yes"));
        stores.fail(what, times);
        let failed = peer.go_on(&called, &first.state, &answers).await;
        assert!(failed.refusal().contains("out of order"), "{failed:?}");
        assert!(service.state().noted().is_empty());
        let second = peer
            .go_on(&called, &first.state, &answers)
            .await
            .questions();
        let answers = second.answers(always("yes"));
        let end = peer.go_on(&called, &second.state, &answers).await;
        assert_eq!(end.text(), ("paid".to_owned(), false), "{what}");
        assert_eq!(service.state().noted(), ["paid"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_that_cannot_be_kept_now_may_be_kept_later() {
    let stores = Stores::new();
    let service = server()
        .journal_store(Arc::clone(&stores))
        .sealed_state_store(Arc::clone(&stores))
        .max_sealed_state_bytes(0)
        .build()
        .unwrap();
    let called = Called::new("pay");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    let answers = first.answers(always("yes"));
    for failing in ["save", "load"] {
        stores.fail(failing, 1);
        let failed = peer.go_on(&called, &first.state, &answers).await;
        assert!(failed.refusal().contains("out of order"), "{failed:?}");
    }
    let second = peer
        .go_on(&called, &first.state, &answers)
        .await
        .questions();
    assert_eq!(stores.saved(), 2);
    let answers = second.answers(always("yes"));
    let end = peer.go_on(&called, &second.state, &answers).await;
    assert_eq!(end.text(), ("paid".to_owned(), false));
    assert_eq!(service.state().noted(), ["paid"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_kept_is_found_again() {
    let stores = Stores::new();
    let service = with(&stores);
    let called = Called::new("pay");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    let answers = first.answers(always("yes"));
    let second = peer
        .go_on(&called, &first.state, &answers)
        .await
        .questions();
    let answers = second.answers(always("yes"));
    // Its course is known, and its end is not.
    stores.fail("append", 3);
    let failed = peer.go_on(&called, &second.state, &answers).await;
    assert!(failed.refusal().contains("out of order"), "{failed:?}");
    for _ in 0..2 {
        let end = peer.go_on(&called, &second.state, &answers).await;
        assert_eq!(end.text(), ("paid".to_owned(), false));
    }
    assert_eq!(service.state().noted(), ["paid"]);
}

#[tokio::test(start_paused = true)]
async fn full_stores_refuse_and_nothing_happens() {
    let service = server()
        .journal_store(MemoryJournalStore::with_limits(0, 0, 0))
        .build()
        .unwrap();
    let called = Called::new("pay");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    let answers = first.answers(always("yes"));
    let failed = peer.go_on(&called, &first.state, &answers).await;
    assert!(failed.refusal().contains("its quota"), "{failed:?}");
    assert!(service.state().noted().is_empty());

    let service = server()
        .max_sealed_state_bytes(0)
        .sealed_state_store(MemorySealedStateStore::with_limits(0, 0))
        .build()
        .unwrap();
    let failed = Peer::new(&service).begin(&called).await;
    assert!(failed.refusal().contains("its quota"), "{failed:?}");
}

/// A store need not drop what nobody needs any more. Who comes late with an
/// earlier round is refused at once, and is not told what came of later ones.
#[tokio::test(start_paused = true)]
async fn an_earlier_round_is_refused_though_its_entries_are_kept() {
    let tool = Tool::new("pay")
        .description("Takes a step after each question")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            for name in ["one", "two", "three"] {
                cx.elicit::<Text>(name).required().await?;
                cx.step("pay", cx.state().note(name)).await?;
            }
            Ok("paid")
        });
    for keeps_all in [true, false] {
        let stores = Stores::new();
        if keeps_all {
            stores.keep_all();
        }
        let server = Server::new("trouble", "1").state(App::default());
        let server = server.tool(tool.clone()).journal_store(Arc::clone(&stores));
        let service = server.build().expect("the server is sound");
        let called = Called::new("pay");
        let mut peer = Peer::new(&service);
        let first = peer.begin(&called).await.questions();
        let early = called.later(&first.state, &first.answers(always("yes")));
        let mut round = peer.ask("tools/call", &early).await;
        while let Round::Asked(asked) = round {
            let answers = asked.answers(always("yes"));
            round = peer.go_on(&called, &asked.state, &answers).await;
            let began = Instant::now();
            let late = peer.ask("tools/call", &early).await;
            assert!(late.refusal().contains("has continued"), "{late:?}");
            assert!(began.elapsed().is_zero(), "nobody waits");
        }
        assert_eq!(round.text().0, "paid");
        assert_eq!(service.state().noted(), ["one", "two", "three"]);
    }
}

/// Clocks of nodes disagree. A claim that is forgotten while a state is still
/// good somewhere is an effect that happens twice.
#[tokio::test(start_paused = true)]
async fn claims_outlast_states() {
    let life = Duration::from_secs(60);
    let stores = Stores::new();
    let service = server()
        .journal_store(Arc::clone(&stores))
        .conversation_timeout(life)
        .build()
        .unwrap();
    let called = Called::new("pay");
    let end = Peer::new(&service).run(&called, always("yes")).await;
    assert_eq!(end.text().0, "paid");
    let appended = stores.appended();
    assert_eq!(appended.len(), 3, "a step begins and ends, and so does all");
    for ttl in appended {
        assert!(ttl >= life + Duration::from_secs(60), "{ttl:?}");
    }
}
