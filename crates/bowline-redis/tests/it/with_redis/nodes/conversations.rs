//! Conversations whose rounds reach different nodes.

use serde_json::Value;

use super::{App, node, peer::Peer};
use crate::with_redis::rig::Redis;

/// How many commands of some kinds the server has run since the last reset.
fn commands(redis: &Redis, names: &[&str]) -> u64 {
    let stats: String = redis.run(&["INFO", "commandstats"]);
    let calls = stats.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let calls = rest.split(',').next()?;
        names.contains(&name).then(|| calls.parse::<u64>().ok())?
    });
    calls.sum()
}

/// Runs something and returns how many scripts it took, each of which is a round trip.
async fn scripts_of(redis: &Redis, run: impl Future<Output = Value>) -> (Value, u64) {
    redis.run::<()>(&["CONFIG", "RESETSTAT"]);
    let result = run.await;
    (result, commands(redis, &["evalsha", "eval"]))
}

#[tokio::test]
async fn a_conversation_goes_on_at_any_node_and_ends_once() {
    let (redis, app) = (Redis::start(), App::default());
    let nodes = [node(&redis, &app).await, node(&redis, &app).await];
    let [mut one, mut other] = [Peer::new(&nodes[0]), Peer::new(&nodes[1])];
    let asked = one.call("greet").await;
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let ended = other.answer(state, "Ada").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Ada!");
    // Repeated, at either node, it has the same end.
    for peer in [&mut one, &mut other] {
        let again = peer.answer(state, "Ada").await;
        assert_eq!(again["result"], ended["result"]);
        let differently = peer.answer(state, "Eve").await;
        let message = differently["error"]["message"].as_str().expect("an error");
        assert!(message.contains("with other answers"), "{message}");
    }
    assert_eq!(app.effects(), ["Ada"]);
}

/// Many clients repeat one round at both nodes at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rounds_that_race_have_one_course() {
    let (redis, app) = (Redis::start(), App::default());
    let nodes = [node(&redis, &app).await, node(&redis, &app).await];
    for round in 0..10 {
        let asked = Peer::new(&nodes[0]).call("greet").await;
        let state = asked["result"]["requestState"].clone();
        let mut racing = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (mut peer, state) = (Peer::new(&nodes[number % 2]), state.clone());
            racing.spawn(async move {
                // Half of them say something else.
                let name = format!("{round} {}", number / 4);
                let ended = peer.answer(&state, &name).await;
                ended["result"]["content"][0]["text"]
                    .as_str()
                    .map(str::to_owned)
            });
        }
        let texts: Vec<String> = racing.join_all().await.into_iter().flatten().collect();
        assert!(!texts.is_empty(), "at least one of them wins");
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        assert_eq!(app.effects().len(), round + 1);
    }
}

#[tokio::test]
async fn plain_calls_need_no_round_trip_and_rounds_need_few() {
    let (redis, app) = (Redis::start(), App::default());
    let node = node(&redis, &app).await;
    let mut peer = Peer::new(&node);
    // Loads the scripts.
    let state = peer.call("greet").await["result"]["requestState"].clone();
    for _ in 0..2 {
        peer.answer(&state, "Ada").await;
    }

    let (hello, scripts) = scripts_of(&redis, peer.call("hello")).await;
    assert_eq!(hello["result"]["content"][0]["text"], "Hello!");
    assert_eq!(
        (scripts, commands(&redis, &["get", "hmget"])),
        (0, 0),
        "a plain call needs no store"
    );
    let (asked, scripts) = scripts_of(&redis, peer.call("greet")).await;
    assert_eq!(scripts, 0, "nor does a first round");
    let state = asked["result"]["requestState"].clone();
    let (ended, scripts) = scripts_of(&redis, peer.answer(&state, "Bob")).await;
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Bob!");
    // Opened and ended; the step begins and ends.
    assert_eq!(scripts, 2 + 2);
    let (again, scripts) = scripts_of(&redis, peer.answer(&state, "Bob")).await;
    assert_eq!(again["result"], ended["result"]);
    assert_eq!(scripts, 2, "opened and released");
}

/// The adversary has every state that it ever got, and the store has lost its data.
#[tokio::test]
async fn states_from_before_the_data_was_lost_are_rejected() {
    let (mut redis, app) = (Redis::start(), App::default());
    let nodes = [node(&redis, &app).await, node(&redis, &app).await];
    let [mut one, mut other] = [Peer::new(&nodes[0]), Peer::new(&nodes[1])];
    let state = one.call("greet").await["result"]["requestState"].clone();
    let ended = one.answer(&state, "Ada").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Ada!");
    redis.kill();
    redis.restart();
    for peer in [&mut one, &mut other] {
        for words in ["has lost its data", "requestState"] {
            let refused = peer.answer(&state, "Ada").await;
            let message = refused["error"]["message"].as_str().unwrap_or_default();
            assert!(message.contains(words), "{refused}");
        }
    }
    // So does a node that starts now, which knows nothing of the past.
    let late = node(&redis, &app).await;
    let refused = Peer::new(&late).answer(&state, "Ada").await;
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("requestState"), "{refused}");
    assert_eq!(app.effects(), ["Ada"], "nothing happened twice");

    let state = other.call("greet").await["result"]["requestState"].clone();
    let ended = one.answer(&state, "Bob").await;
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Bob!");
}

#[tokio::test]
async fn what_is_stored_cannot_be_read() {
    let (redis, app) = (Redis::start(), App::default());
    let node = node(&redis, &app).await;
    let mut peer = Peer::new(&node);
    let state = peer.call("greet").await["result"]["requestState"].clone();
    peer.answer(&state, "Ada Lovelace").await;
    let keys: Vec<String> = redis.run(&["KEYS", "*"]);
    assert!(
        keys.iter().any(|key| key.starts_with("{bowline}:j:")),
        "{keys:?}"
    );
    for key in keys {
        assert!(key.starts_with("{bowline}:"), "{key}");
        let dump: Vec<u8> = redis.run(&["DUMP", &key]);
        let dump = String::from_utf8_lossy(&dump);
        assert!(!dump.contains("Lovelace"), "{key} can be read");
    }
}
