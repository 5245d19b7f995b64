//! Nobody has so much that others go without.

use std::{net::IpAddr, time::Duration};

use bowline::server::{
    Resource,
    http::{ClientLimits, HttpOptions, PeerSource},
};
use bytes::Bytes;
use http::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    rig::{Answer, Chunks, Node, Session, initialize, post, stateless, text_of},
    tools::{Workshop, workshop, workshop_with},
};

const VERSION: &str = "2025-11-25";
const SECOND: Duration = Duration::from_secs(1);

fn limited(it: &Workshop, per_client: ClientLimits, rest: HttpOptions) -> Node {
    let options = HttpOptions {
        client_limits: per_client,
        ..rest
    };
    Node::with(&it.service, options)
}

/// Opens a session and says no more.
async fn opening(node: &Node) -> Answer {
    node.send(post(), initialize(VERSION)).await
}

#[tokio::test(start_paused = true)]
async fn who_opens_sessions_without_end_shuts_nobody_out() {
    let it = workshop();
    let options = HttpOptions {
        max_sessions: 10,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let (ada, mallory) = (node.asked_by("ada"), node.asked_by("mallory"));
    let first = Session::open(&ada, VERSION).await;
    sleep(SECOND).await;
    for _ in 0..20 {
        assert_eq!(opening(&mallory).await.status(), 200);
    }
    assert_eq!(node.http.session_count(), 10);
    let second = Session::open(&ada, VERSION).await;
    for session in [first, second] {
        let answer = session.ask(1, "tools/list", json!({})).await;
        assert_eq!(answer.status(), 200, "whose sessions are few keeps them");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_is_one_client_and_so_is_a_principal() {
    let it = workshop();
    let few = ClientLimits {
        max_sessions: 2,
        ..ClientLimits::default()
    };
    let node = limited(&it, few, HttpOptions::default());
    let one = node.asked_from([192, 0, 2, 1]);
    let two = node.asked_from([192, 0, 2, 2]);
    for _ in 0..5 {
        opening(&one).await;
        opening(&one.asked_by("ada")).await;
        opening(&two.asked_by("ada")).await;
    }
    assert_eq!(
        node.http.session_count(),
        4,
        "two of the address, two of ada"
    );
    // Nobody knows who these are: only all together are limited.
    for _ in 0..5 {
        opening(&node).await;
    }
    assert_eq!(node.http.session_count(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_header_is_believed_only_if_the_operator_says_so() {
    let it = workshop();
    let few = ClientLimits {
        max_sessions: 1,
        ..ClientLimits::default()
    };
    let from = |address: &str| post().header("x-real-ip", address);
    let deaf = limited(&it, few, HttpOptions::default()).asked_from([192, 0, 2, 1]);
    let peer_source = PeerSource::from_request(|parts| {
        let address = parts.headers.get("x-real-ip")?;
        address.to_str().ok()?.parse().ok()
    });
    let options = HttpOptions {
        peer_source,
        ..HttpOptions::default()
    };
    let told = limited(&it, few, options).asked_from([192, 0, 2, 1]);
    for address in ["198.51.100.1", "198.51.100.2", "198.51.100.2", "no address"] {
        deaf.send(from(address), initialize(VERSION)).await;
        told.send(from(address), initialize(VERSION)).await;
    }
    assert_eq!(deaf.http.session_count(), 1);
    assert_eq!(
        told.http.session_count(),
        3,
        "two clients, and the proxy itself"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_never_initialised_is_closed_soon() {
    let it = workshop();
    let node = Node::new(&it.service);
    let answer = opening(&node).await;
    let id = answer
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let sloppy = Session {
        node: node.clone(),
        id,
        version: VERSION,
    };
    let whole = Session::open(&node, VERSION).await;
    opening(&node).await;
    assert_eq!(node.http.session_count(), 3);
    sleep(40 * SECOND).await;
    let used = sloppy.ask(1, "tools/list", json!({})).await;
    assert_eq!(used.status(), 200, "some clients forget to say so");
    sleep(40 * SECOND).await;
    assert_eq!(node.http.session_count(), 2);
    sleep(40 * SECOND).await;
    assert_eq!(node.http.session_count(), 1);
    assert_eq!(whole.ask(1, "ping", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn what_a_client_says_of_itself_is_no_burden() {
    let it = workshop();
    let node = Node::new(&it.service);
    let members = |count: u32, text: &str| {
        let members = (0..count).map(|number| (number.to_string(), json!(text)));
        let capabilities: serde_json::Map<_, _> = members.collect();
        let info = json!({"name": "raw", "version": "1"});
        let params = json!({
            "protocolVersion": VERSION, "clientInfo": info,
            "capabilities": {"experimental": capabilities},
        });
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
    };
    let many = node.send(post(), members(5_000, "")).await;
    assert_eq!(many.error().await["code"], -32600);
    assert_eq!(node.http.session_count(), 0);
    let long = node.send(post(), members(1, &"x".repeat(50_000))).await;
    assert_eq!(long.status(), 200);
    assert_eq!(node.http.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_sessions_keep_is_bounded() {
    let long = |name: char| format!("a:{name}{}", "x".repeat(30_000));
    let resource = |name| Resource::new(long(name), "long").text("1");
    let it = workshop_with(|server| server.resources(['1', '2'].map(resource)));
    let options = HttpOptions {
        max_session_bytes: 100_000,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let (ada, mallory) = (node.asked_by("ada"), node.asked_by("mallory"));
    let ours = Session::open(&ada, VERSION).await;
    for _ in 0..20 {
        Session::open(&mallory, VERSION).await;
    }
    let before = node.http.session_count();
    assert!(before < 15, "{before}");
    let last = Session::open(&mallory, VERSION).await;
    let watch = async |uri: &str| {
        let answer = last
            .ask(1, "resources/subscribe", json!({"uri": uri}))
            .await;
        tokio::task::yield_now().await;
        answer.json().await
    };
    // What is watched counts as it comes, and what is refused does not.
    assert!(watch(&long('0')).await["error"].is_object());
    assert_eq!(node.http.session_count(), before);
    assert_eq!(watch(&long('1')).await["result"], json!({}));
    let fewer = node.http.session_count();
    assert!(fewer <= before - 3, "{fewer} of {before}");
    assert_eq!(watch(&long('2')).await["result"], json!({}));
    assert!(node.http.session_count() <= fewer - 3);
    assert_eq!(ours.ask(1, "ping", json!({})).await.status(), 200);
    assert_eq!(last.ask(1, "ping", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_large_network_is_more_than_one_client_but_not_many() {
    let it = workshop();
    let few = ClientLimits {
        max_sessions: 2,
        max_requests: 8,
        ..ClientLimits::default()
    };
    let node = limited(&it, few, HttpOptions::default());
    let from = |text: &str| node.asked_from(text.parse::<IpAddr>().expect("an address"));
    for number in 0..10 {
        let small = from(&format!("2001:db8:1:{number}::1"));
        assert_eq!(opening(&small).await.status(), 200);
        sleep(SECOND).await;
    }
    assert_eq!(
        node.http.session_count(),
        4,
        "twice as many as one may have"
    );
    opening(&from("2001:db8:2::1")).await;
    assert_eq!(node.http.session_count(), 5);
    let slow: Vec<_> = (0..16)
        .map(|number| {
            let small = from(&format!("2001:db8:1:{number}::1"));
            let (request, body) = endless();
            tokio::spawn(async move { small.send(request, body).await.status() })
        })
        .collect();
    tokio::task::yield_now().await;
    let (request, body) = endless();
    let more = from("2001:db8:1:ffff::1").send(request, body).await;
    assert_eq!(more.status(), 429);
    let other = from("2001:db8:2::1").ask("tools/list", json!({})).await;
    assert_eq!(other.status(), 200);
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test(start_paused = true)]
async fn calls_that_were_abandoned_hold_no_more_than_a_client_may() {
    let it = workshop();
    let few = ClientLimits {
        max_request_bytes: 110_000,
        ..ClientLimits::default()
    };
    let options = HttpOptions {
        stream_after: Duration::from_millis(1),
        ..HttpOptions::default()
    };
    let node = limited(&it, few, options);
    let (ada, mallory) = (node.asked_by("ada"), node.asked_by("mallory"));
    let words = "x".repeat(30_000);
    let params = json!({"name": "wait", "arguments": {}, "_meta": {"words": words}});
    let mut abandoned = 0;
    for _ in 0..2 {
        let session = Session::open(&mallory, VERSION).await;
        for id in 0..5 {
            // The answer is not waited for.
            let answer = session.ask(id, "tools/call", params.clone()).await;
            abandoned += u32::from(answer.status() == 200);
        }
    }
    assert_eq!(abandoned, 3);
    let session = Session::open(&ada, VERSION).await;
    let answer = session.ask(1, "tools/call", params.clone()).await;
    assert_eq!(answer.status(), 200, "others are served");
    for _ in 0..4 {
        it.open();
    }
    sleep(SECOND).await;
    let session = Session::open(&mallory, VERSION).await;
    assert_eq!(session.ask(1, "tools/call", params).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn one_client_keeps_no_more_of_its_streams_than_it_may() {
    let it = workshop();
    let few = ClientLimits {
        max_replay_bytes: 1000,
        ..ClientLimits::default()
    };
    let node = limited(&it, few, HttpOptions::default());
    let (ada, mallory) = (node.asked_by("ada"), node.asked_by("mallory"));
    for _ in 0..5 {
        let session = Session::open(&mallory, VERSION).await;
        session.call(1, "tell_much_and_wait").await;
    }
    let kept = node.http.replay_bytes();
    assert!((500..=1000).contains(&kept), "{kept}");
    let session = Session::open(&ada, VERSION).await;
    session.call(1, "tell_much_and_wait").await;
    assert!(node.http.replay_bytes() > kept);
}

/// A request whose body never comes to an end.
fn endless() -> (http::request::Builder, Chunks) {
    let (request, _) = stateless("tools/list", json!({}));
    (request, Chunks::new([Bytes::from_static(b"{")]).endless())
}

#[tokio::test(start_paused = true)]
async fn slow_bodies_hold_the_places_of_their_sender_alone() {
    let it = workshop();
    let few = ClientLimits {
        max_requests: 4,
        ..ClientLimits::default()
    };
    let options = HttpOptions {
        max_requests: 8,
        ..HttpOptions::default()
    };
    let node = limited(&it, few, options);
    let mallory = node.asked_from([192, 0, 2, 1]);
    let slow: Vec<_> = (0..4)
        .map(|_| {
            let mallory = mallory.clone();
            let (request, body) = endless();
            tokio::spawn(async move { mallory.send(request, body).await.status() })
        })
        .collect();
    tokio::task::yield_now().await;
    let (request, body) = endless();
    assert_eq!(mallory.send(request, body).await.status(), 429);
    let other = node.asked_from([192, 0, 2, 2]);
    let answer = other.ask("tools/list", json!({})).await;
    assert_eq!(answer.status(), 200);
    for it in slow {
        assert_eq!(it.await.expect("no panic"), 408);
    }
    assert_eq!(mallory.ask("tools/list", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_too_slow_is_given_up_before_its_time() {
    let it = workshop();
    let node = Node::new(&it.service);
    let began = Instant::now();
    let (request, body) = endless();
    assert_eq!(node.send(request, body).await.status(), 408);
    assert!(began.elapsed() < 6 * SECOND, "{:?}", began.elapsed());
    let unhurried = HttpOptions {
        min_bytes_per_second: 0,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, unhurried);
    let (request, body) = endless();
    assert_eq!(node.send(request, body).await.status(), 408);
    assert!(began.elapsed() > 30 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn sessions_that_are_open_go_on_when_all_places_are_taken() {
    let it = workshop();
    let options = HttpOptions {
        max_requests: 8,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, VERSION).await;
    for _ in 0..7 {
        let node = node.clone();
        let (request, body) = endless();
        tokio::spawn(async move { node.send(request, body).await });
    }
    tokio::task::yield_now().await;
    let refused = node.ask("tools/list", json!({})).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let made_up = session.request(Method::POST).header("mcp-session-id", "x");
    assert_eq!(node.send(made_up, "{}").await.status(), 503);
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn one_client_has_no_more_streams_of_changes_than_it_may() {
    let it = workshop();
    let few = ClientLimits {
        max_listen_streams: 1,
        ..ClientLimits::default()
    };
    let node = limited(&it, few, HttpOptions::default());
    let params = json!({"notifications": {"toolsListChanged": true}});
    let listen = async |name: &str| {
        let node = node.asked_by(name);
        node.ask("subscriptions/listen", params.clone()).await
    };
    let first = listen("mallory").await;
    assert_eq!(listen("mallory").await.status(), 429);
    assert_eq!(listen("ada").await.status(), 200);
    drop(first);
    assert_eq!(listen("mallory").await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn streams_of_sessions_count_as_streams_of_changes() {
    let it = workshop();
    let few = ClientLimits {
        max_listen_streams: 1,
        ..ClientLimits::default()
    };
    let node = limited(&it, few, HttpOptions::default());
    let mallory = node.asked_by("mallory");
    let one = Session::open(&mallory, VERSION).await;
    let two = Session::open(&mallory, VERSION).await;
    let first = one.get().await;
    assert_eq!(first.status(), 200);
    assert_eq!(two.get().await.status(), 429);
    let ours = Session::open(&node.asked_by("ada"), VERSION).await;
    assert_eq!(ours.get().await.status(), 200);
    drop(first);
    assert_eq!(two.get().await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn one_client_has_no_more_calls_than_it_may() {
    let mut it = workshop();
    let few = ClientLimits {
        max_requests: 2,
        ..ClientLimits::default()
    };
    let options = HttpOptions {
        stream_after: Duration::from_millis(1),
        ..HttpOptions::default()
    };
    let node = limited(&it, few, options);
    let (ada, mallory) = (node.asked_by("ada"), node.asked_by("mallory"));
    let mut calls = Vec::new();
    for _ in 0..2 {
        calls.push(mallory.call("wait", json!({})).await);
        it.started().await;
    }
    assert_eq!(mallory.call("wait", json!({})).await.status(), 429);
    let hi = json!({"message": "hi"});
    assert_eq!(ada.call("echo", hi.clone()).await.status(), 200);
    it.open();
    let done = calls.swap_remove(0).messages().await;
    assert_eq!(text_of(&done[0]), "waited");
    assert_eq!(mallory.call("echo", hi).await.status(), 200);
}
