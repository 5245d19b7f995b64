//! What happens once, whatever happens to the calls that make it happen.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::server::{Conversation, HandlerContext, Server, Service, Tool};
use serde_json::json;
use tokio::time::sleep;

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always, say},
    user,
};

fn serve(tool: Tool<App>) -> Service<App> {
    let server = Server::new("once", "1").state(App::default()).tool(tool);
    server.build().expect("the server is sound")
}

/// A tool in phases whose phases take a while, and panic where they are told to.
fn booking(panics: &'static str) -> Tool<App> {
    let work = move |name: &'static str, app: HandlerContext<App>| async move {
        app.state().note(name).await?;
        sleep(Duration::from_secs(1)).await;
        assert_ne!(name, panics, "as it should");
        Ok(())
    };
    Tool::new("book")
        .description("Books once")
        .no_input()
        .phases()
        .before(move |_, cx: HandlerContext<App>| work("before", cx))
        .ask(move |(), cx: Conversation<App>| async move {
            let first = cx.elicit::<Text>("first").required().await?.text;
            cx.step("step", work("step", cx.context())).await?;
            let second = cx.elicit::<Text>("second").required().await?.text;
            assert_ne!(panics, "client", "as it should");
            Ok(first + &second)
        })
        .after(
            move |(), text: String, cx: HandlerContext<App>| async move {
                work("after", cx).await?;
                Ok(text)
            },
        )
}

/// The rounds of a booking up to the last one, which is to be sent.
async fn last_round(peer: &mut Peer) -> (Called, serde_json::Value) {
    let called = Called::new("book");
    let first = peer.begin(&called).await.questions();
    let answers = first.answers(always("a"));
    let second = peer.go_on(&called, &first.state, &answers).await;
    let second = second.questions();
    let answers = second.answers(always("b"));
    let params = called.later(&second.state, &answers);
    (called, params)
}

#[tokio::test(start_paused = true)]
async fn identical_rounds_at_once_book_once() {
    let service = serve(booking(""));
    let mut peer = Peer::new(&service);
    let (_, params) = last_round(&mut peer).await;
    let mut others: Vec<_> = (0..4).map(|_| Peer::new(&service)).collect();
    let mut ids = Vec::new();
    for other in &mut others {
        ids.push(other.send("tools/call", &params).await);
    }
    for (other, id) in others.iter_mut().zip(ids) {
        assert_eq!(other.answer(id).await.text(), ("ab".to_owned(), false));
    }
    assert_eq!(service.state().noted(), ["before", "step", "after"]);
}

/// Whoever waits for a step that is taken elsewhere waits as long as it is.
#[tokio::test(start_paused = true)]
async fn a_long_step_is_waited_for_by_those_who_repeat_its_round() {
    let tool = Tool::new("book")
        .description("Takes its time")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("q").required().await?;
            let long = async {
                cx.state().note("begun").await?;
                sleep(Duration::from_secs(300)).await;
                Ok("slept".to_owned())
            };
            cx.step("long", long).await
        });
    let service = serve(tool);
    let called = Called::new("book");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("a")));
    let one = peer.send("tools/call", &params).await;
    let two = peer.send("tools/call", &params).await;
    for id in [two, one] {
        assert_eq!(peer.answer(id).await.text(), ("slept".to_owned(), false));
    }
    assert_eq!(service.state().noted(), ["begun"]);
}

#[tokio::test(start_paused = true)]
async fn a_fork_does_not_book_again() {
    let service = serve(booking(""));
    let mut peer = Peer::new(&service);
    let called = Called::new("book");
    let first = peer.begin(&called).await.questions();
    let answers = json!({"1": say("a")});
    let second = peer
        .go_on(&called, &first.state, &answers)
        .await
        .questions();
    let end = peer
        .go_on(&called, &second.state, &json!({"2": say("b")}))
        .await;
    assert_eq!(end.text().0, "ab");
    let other = peer
        .go_on(&called, &second.state, &json!({"2": say("c")}))
        .await;
    assert!(other.refusal().contains("other answers"));
    let other = peer
        .go_on(&called, &first.state, &json!({"1": say("c")}))
        .await;
    assert!(other.refusal().contains("other answers"));
    // The same answers, written in another way, are no fork.
    let mut same = called.later(&second.state, &json!({}));
    same["inputResponses"] =
        serde_json::from_str(r#"{"2": {"content": {"text": "\u0062"}, "action": "accept"}}"#)
            .unwrap();
    assert_eq!(peer.ask("tools/call", &same).await, end);
    assert_eq!(service.state().noted(), ["before", "step", "after"]);
}

/// A step that was begun comes to its end, and who repeats the round is told.
#[tokio::test(start_paused = true)]
async fn a_step_is_not_cut_off_when_its_call_is_called_off() {
    let service = serve(booking(""));
    let mut peer = Peer::new(&service);
    let (_, params) = last_round(&mut peer).await;
    let id = peer.send("tools/call", &params).await;
    service.state().until("after").await;
    peer.cancel(id).await;
    for _ in 0..2 {
        let end = peer.ask("tools/call", &params).await;
        assert_eq!(end.text(), ("ab".to_owned(), false));
    }
    assert_eq!(service.state().noted(), ["before", "step", "after"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_round_and_nothing_more() {
    for (phase, noted) in [
        ("before", vec!["before"]),
        ("step", vec!["before", "step"]),
        ("client", vec!["before", "step"]),
        ("after", vec!["before", "step", "after"]),
    ] {
        let service = serve(booking(phase));
        let mut peer = Peer::new(&service);
        let called = Called::new("book");
        let mut round = peer.begin(&called).await;
        let mut last = called.params();
        while let Round::Asked(questions) = round {
            let answers = questions.answers(always("a"));
            last = called.later(&questions.state, &answers);
            round = peer.ask("tools/call", &last).await;
        }
        assert!(round.refusal().contains("panicked"), "{phase}: {round:?}");
        assert_eq!(service.state().noted(), noted, "{phase}");
        if phase != "before" {
            let again = peer.ask("tools/call", &last).await;
            match phase {
                "client" => assert!(again.refusal().contains("panicked")),
                _ => assert!(again.text().0.contains("its outcome is unknown")),
            }
            assert_eq!(service.state().noted(), noted, "{phase}, again");
        }
        // The server is none the worse for it.
        peer.begin(&Called::new("book")).await;
    }
}

/// A round that is cut off between steps may be played again, by anybody.
#[tokio::test(start_paused = true)]
async fn a_round_that_was_cut_off_may_be_repeated() {
    let waits = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&waits);
    let tool = Tool::new("wait")
        .description("Waits for something that is no step, once")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation<App>| {
            let waits = Arc::clone(&waits);
            async move {
                cx.elicit::<Text>("q").required().await?;
                cx.step("step", cx.state().note("step")).await?;
                if waits.fetch_add(1, Ordering::SeqCst) == 0 {
                    cx.state().note("waiting").await?;
                    std::future::pending::<()>().await;
                }
                Ok("done")
            }
        });
    let service = serve(tool);
    let mut peer = Peer::new(&service);
    let called = Called::new("wait");
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("a")));
    let id = peer.send("tools/call", &params).await;
    service.state().until("waiting").await;
    peer.cancel(id).await;
    for _ in 0..2 {
        let end = peer.ask("tools/call", &params).await;
        assert_eq!(end.text(), ("done".to_owned(), false));
    }
    assert_eq!(seen.load(Ordering::SeqCst), 2);
    assert_eq!(service.state().noted(), ["step", "waiting"]);
}

/// Live, who goes away in the middle of a question or a step is cleaned up
/// after.
#[tokio::test(start_paused = true)]
async fn a_live_call_that_is_called_off_is_cleaned_up_after() {
    for asks in [true, false] {
        let tool = Tool::new("hold")
            .description("Holds something while it asks")
            .no_input()
            .phases()
            .before(async |_, cx: HandlerContext<App>| cx.state().note("before").await)
            .ask(move |_, cx: Conversation<App>| async move {
                cx.state().note("client").await?;
                if asks {
                    cx.elicit::<Text>("wait").required().await?;
                }
                cx.step("step", std::future::pending()).await
            })
            .cleanup(async |_, cx: HandlerContext<App>| {
                cx.state().note("cleanup").await?;
                Ok(())
            })
            .after(async |_, (): (), _| Ok("done"));
        let service = serve(tool);
        let client = user::silent(&service).await;
        let call = client.tools().call("hold", json!({}));
        tokio::select! {
            end = call => panic!("{end:?}"),
            () = service.state().until("client") => {}
        }
        service.state().until("cleanup").await;
        assert_eq!(service.state().noted(), ["before", "client", "cleanup"]);
    }
}
