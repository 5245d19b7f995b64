//! States that are not for this request, not from this server, or too old; and
//! answers that are none.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bowline::server::{
    Conversation, Server, Service, Tool,
    seal::SealKeys,
    store::{MemoryJournalStore, MemorySealedStateStore},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    app::{App, Text},
    rig::{Called, Peer, Round, always, say},
};

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: Option<i64>,
    b: Option<i64>,
}

const SECRET: &[u8] = b"a secret of at least thirty-two bytes";
const OTHER: &[u8] = b"another secret of thirty-two bytes or so";

/// All servers here share it, as the nodes of a fleet do.
static JOURNALS: LazyLock<Arc<MemoryJournalStore>> = LazyLock::new(Arc::default);

fn keyring() -> SealKeys {
    SealKeys::from_secret(SECRET).expect("long enough")
}

/// Two tools that do the same: a question, a step, two questions at once.
fn server(name: &str) -> Server<App> {
    let tool = |name: &str| {
        Tool::new(name)
            .description("Asks")
            .input::<Numbers>()
            .handler_with_conversation(async |numbers, cx: Conversation<App>| {
                let first = cx.elicit::<Text>("first").required().await?.text;
                cx.step("step", cx.state().note("step")).await?;
                let (second, roots) = tokio::join!(
                    cx.elicit::<Text>("second").key("second").required(),
                    cx.roots().key("roots")
                );
                let (a, b) = (numbers.a.unwrap_or(0), numbers.b.unwrap_or(0));
                Ok(format!("{first} {} {} {a} {b}", second?.text, roots?.len()))
            })
    };
    Server::new(name, "1")
        .state(App::default())
        .tool(tool("one"))
        .tool(tool("other"))
        .seal_keys(keyring())
        .journal_store(Arc::clone(&JOURNALS))
        .sealed_state_store(MemorySealedStateStore::new())
}

fn service() -> Service<App> {
    server("refused").build().expect("a sound server")
}

fn called() -> Called {
    Called {
        tool: "one",
        arguments: json!({"a": 1, "b": 2}),
    }
}

/// The state after the first round, and its answers.
async fn first(service: &Service<App>) -> (String, Value) {
    let mut peer = Peer::known(service, "ada");
    let asked = peer.begin(&called()).await.questions();
    let answers = asked.answers(always("x"));
    (asked.state, answers)
}

#[track_caller]
fn is_refused(round: &Round, why: &str) {
    let Round::Refused(code, message) = round else {
        panic!("it is not refused: {round:?}");
    };
    assert_eq!(*code, -32602, "{message}");
    assert!(message.contains(why), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_state_is_good_for_its_own_request_only() {
    let service = service();
    let (state, answers) = first(&service).await;
    let another = "it belongs to another request";
    let others = [
        Called {
            tool: "other",
            ..called()
        },
        Called {
            arguments: json!({"a": 1, "b": 3}),
            ..called()
        },
        Called {
            arguments: json!({"a": 1}),
            ..called()
        },
    ];
    let mut ada = Peer::known(&service, "ada");
    for other in others {
        is_refused(&ada.go_on(&other, &state, &answers).await, another);
    }
    let mut bob = Peer::known(&service, "bob");
    is_refused(&bob.go_on(&called(), &state, &answers).await, another);
    let mut nobody = Peer::new(&service);
    is_refused(&nobody.go_on(&called(), &state, &answers).await, another);
    assert!(service.state().noted().is_empty());
    // The order of arguments makes no other request.
    let mut same = called().later(&state, &answers);
    same["arguments"] = serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap();
    ada.ask("tools/call", &same).await.questions();
}

#[tokio::test(start_paused = true)]
async fn a_state_of_another_server_is_refused() {
    let (state, answers) = first(&service()).await;
    let namesake = server("someone else").build().unwrap();
    let round = Peer::known(&namesake, "ada")
        .go_on(&called(), &state, &answers)
        .await;
    is_refused(&round, "it is malformed or was altered");
    let stranger = server("refused")
        .seal_keys(SealKeys::random())
        .build()
        .unwrap();
    let round = Peer::known(&stranger, "ada")
        .go_on(&called(), &state, &answers)
        .await;
    is_refused(&round, "it was sealed with an unknown key");
}

#[tokio::test(start_paused = true)]
async fn any_bit_that_flips_is_found() {
    let service = service();
    let (state, answers) = first(&service).await;
    let mut peer = Peer::known(&service, "ada");
    for at in 0..state.len() {
        for bit in 0..7 {
            let mut bytes = state.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let flipped = String::from_utf8(bytes).expect("ASCII");
            is_refused(
                &peer.go_on(&called(), &flipped, &answers).await,
                "requestState",
            );
        }
    }
    for cut in [0, 1, state.len() / 2, state.len() - 1] {
        is_refused(
            &peer.go_on(&called(), &state[..cut], &answers).await,
            "requestState",
        );
    }
    assert!(service.state().noted().is_empty());
    peer.go_on(&called(), &state, &answers).await.questions();
}

#[tokio::test(start_paused = true)]
async fn who_puts_nothing_off_takes_no_state() {
    let echo = Tool::new("echo")
        .description("Asks nothing")
        .input::<Numbers>()
        .handler(async |numbers| Ok(format!("{:?}", numbers.a)));
    let service = server("refused").tool(echo).build().unwrap();
    let (state, answers) = first(&service).await;
    let echoed = Called {
        tool: "echo",
        arguments: json!({"a": 1}),
    };
    let mut peer = Peer::known(&service, "ada");
    for state in [state.as_str(), "", "x"] {
        let round = peer.go_on(&echoed, state, &answers).await;
        is_refused(
            &round,
            "requestState was rejected: this tool never suspends a call",
        );
    }
    let round = peer.begin(&echoed).await;
    assert_eq!(round.text(), ("Some(1)".to_owned(), false));
}

#[tokio::test(start_paused = true)]
async fn a_state_expires() {
    let now = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&now);
    let service = server("refused")
        .conversation_timeout(Duration::from_secs(60))
        .clock(move || SystemTime::UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::SeqCst)))
        .build()
        .unwrap();
    let (state, answers) = first(&service).await;
    let mut peer = Peer::known(&service, "ada");
    now.fetch_add(59_999, Ordering::SeqCst);
    let then = peer.go_on(&called(), &state, &answers).await.questions();
    now.fetch_add(1, Ordering::SeqCst);
    // Going on does not make the conversation live longer.
    for state in [&state, &then.state] {
        let refused = peer.go_on(&called(), state, &answers).await;
        is_refused(&refused, "it has expired: repeat the call");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_none_are_errors_of_the_protocol() {
    let service = service();
    let (state, answers) = first(&service).await;
    let mut peer = Peer::known(&service, "ada");
    for bad in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"action": 1}),
    ] {
        let round = peer.go_on(&called(), &state, &json!({"1": bad})).await;
        is_refused(&round, "inputResponses[\"1\"]");
    }
    let then = peer.go_on(&called(), &state, &answers).await.questions();
    let bad = json!({"second": say("x"), "roots": {"roots": 1}});
    let round = peer.go_on(&called(), &then.state, &bad).await;
    is_refused(&round, "inputResponses[\"roots\"]");
    for bad in [json!([]), json!(7), json!("x")] {
        let round = peer.go_on(&called(), &state, &bad).await;
        is_refused(&round, "inputResponses");
    }
    for bad in [json!({}), json!(7)] {
        let mut params = called().later("", &answers);
        params["requestState"] = bad;
        is_refused(&peer.ask("tools/call", &params).await, "requestState");
    }
}

#[tokio::test(start_paused = true)]
async fn missing_answers_are_asked_again_and_others_are_ignored() {
    let service = service();
    let (state, answers) = first(&service).await;
    let mut peer = Peer::known(&service, "ada");
    for few in [json!({}), json!({"2": say("x"), "step#0": say("x")})] {
        let again = peer.go_on(&called(), &state, &few).await.questions();
        assert_eq!(again.messages(), ["first"]);
    }
    let mut then = peer.go_on(&called(), &state, &answers).await.questions();
    let mut more = json!({"roots": {"roots": []}, "unknown": 7, "1": say("another")});
    then = peer.go_on(&called(), &then.state, &more).await.questions();
    assert_eq!(then.messages(), ["second"]);
    // What was answered is not asked again, nor answered again.
    more = json!({"second": say("y"), "roots": 7});
    let end = peer.go_on(&called(), &then.state, &more).await;
    assert_eq!(end.text(), ("x y 0 1 2".to_owned(), false));
    assert_eq!(service.state().noted(), ["step"]);
}

#[tokio::test(start_paused = true)]
async fn answers_without_a_state_are_ignored() {
    let service = service();
    let mut params = called().params();
    params["inputResponses"] = json!({"1": say("x")});
    let mut peer = Peer::new(&service);
    let asked = peer.ask("tools/call", &params).await.questions();
    assert_eq!(asked.messages(), ["first"]);
}

#[tokio::test(start_paused = true)]
async fn keys_may_change_in_the_middle_of_a_conversation() {
    let old = service();
    let new = SealKeys::from_secret(OTHER).and_then(|keys| keys.accept_secret(SECRET));
    let new = server("refused").seal_keys(new.unwrap()).build().unwrap();
    let (state, answers) = first(&old).await;
    let mut peer = Peer::known(&new, "ada");
    let then = peer.go_on(&called(), &state, &answers).await.questions();
    let more = json!({"second": say("y"), "roots": {"roots": []}});
    // Nodes that do not know the new key cannot go on.
    let back = Peer::known(&old, "ada")
        .go_on(&called(), &then.state, &more)
        .await;
    is_refused(&back, "it was sealed with an unknown key");
    let end = peer.go_on(&called(), &then.state, &more).await;
    assert_eq!(end.text().0, "x y 0 1 2");
}

#[tokio::test(start_paused = true)]
async fn a_large_state_stays_with_the_server() {
    let service = service();
    let large: &'static str = "x".repeat(40_000).leak();
    let mut peer = Peer::known(&service, "ada");
    let asked = peer.begin(&called()).await.questions();
    let answers = asked.answers(always(large));
    let then = peer
        .go_on(&called(), &asked.state, &answers)
        .await
        .questions();
    assert!(then.state.len() < 1000, "{}", then.state.len());
    let more = json!({"second": say("y"), "roots": {"roots": []}});
    is_refused(
        &Peer::known(&service, "bob")
            .go_on(&called(), &then.state, &more)
            .await,
        "another request",
    );
    // The handle alone does not help where the state is not.
    let elsewhere = server("refused").build().unwrap();
    let there = Peer::known(&elsewhere, "ada")
        .go_on(&called(), &then.state, &more)
        .await;
    is_refused(&there, "stored on another node");
    for _ in 0..2 {
        let end = peer.go_on(&called(), &then.state, &more).await;
        assert_eq!(end.text().0, format!("{large} y 0 1 2"));
    }
}
