//! Tasks whose node dies.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    runtime::Builder,
    time::{sleep, timeout},
};

use super::{App, node, peer::Peer};
use crate::with_redis::rig::Redis;

/// Something is wrong if it takes this long.
const TOO_LONG: Duration = Duration::from_secs(60);

async fn until_completed(peer: &mut Peer, id: &Value) -> Value {
    loop {
        let task = peer.ask("tasks/get", json!({"taskId": id})).await;
        let task = task["result"].clone();
        if task["status"] == "completed" {
            return task;
        }
        assert_eq!(task["status"], "working", "{task}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn another_node_goes_on_and_repeats_no_step() {
    let (redis, app) = (Redis::start(), App::default());
    // With a runtime of its own, which dies with everything that runs in it.
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let stores = redis.url();
    let first = runtime.spawn({
        let app = app.clone();
        async move {
            let stores = bowline_redis::RedisStores::connect(&stores).await;
            let keys = bowline::server::seal::SealKeys::from_secret(&[7; 32]);
            let service = super::server(&app)
                .seal_keys(keys.expect("it is long enough"))
                .stores(stores.expect("it runs"))
                .lease_timeout(Duration::from_millis(500))
                .build()
                .expect("it is complete");
            let created = Peer::new(&service).call("job").await;
            (created["result"]["taskId"].clone(), service)
        }
    });
    let (id, service) = first.await.expect("a task");
    assert!(id.is_string(), "{id}");
    app.0.is_at_gate.notified().await;
    drop(service);
    // Dead for sure: otherwise it might pass the gate that is opened for the other.
    let dying = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(TOO_LONG));
    dying.await.expect("it dies");

    let second = node(&redis, &app).await;
    app.0.gate.notify_one();
    let mut peer = Peer::new(&second);
    let task = timeout(TOO_LONG, until_completed(&mut peer, &id)).await;
    let task = task.expect("the other node takes it over");
    assert_eq!(task["result"]["content"][0]["text"], "both");
    assert_eq!(app.effects(), ["one", "two"]);
}
