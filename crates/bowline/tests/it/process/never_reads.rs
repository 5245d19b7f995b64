//! A server that never reads.

use std::time::Duration;

use bowline::{Client, proto::Reason};
use serde_json::json;
use tokio::task::JoinSet;

use super::{faulty, within};

/// How many calls there are in all, and how many at once.
const CALLS: usize = 200_000;
const AT_ONCE: usize = 4_000;
/// What one call carries: were calls kept, they would be 200 MB and more.
const PADDING: usize = 400;
/// How much more memory there may be at the end: what the queue and the calls
/// at once hold, several times over, as other tests run beside this one.
const MOST_GROWTH: usize = 150 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deadlines_fire_and_memory_stays_flat() {
    let connecting = Client::builder().connect(faulty("deaf"));
    let client = within("connecting", connecting).await.expect("it opens");
    let padding = "x".repeat(PADDING);
    let before = resident();
    let (mut timeouts, mut refusals) = (0, 0);
    for _ in 0..CALLS / AT_ONCE {
        let mut calls = JoinSet::new();
        for _ in 0..AT_ONCE {
            let (client, padding) = (client.clone(), padding.clone());
            calls.spawn(async move {
                let call = client.tools().call("any", json!({"p": padding}));
                call.timeout(Duration::from_millis(20)).await
            });
        }
        while let Some(call) = within("a call to end", calls.join_next()).await {
            let error = call.expect("no panic").expect_err("nobody reads");
            match error.reason() {
                Reason::Timeout => timeouts += 1,
                Reason::Backpressure => refusals += 1,
                other => panic!("{other:?}: {error}"),
            }
        }
    }
    let growth = resident().saturating_sub(before);
    assert_eq!(timeouts + refusals, CALLS, "each ended once");
    assert!(timeouts > 0 && refusals > 0, "{timeouts}, {refusals}");
    assert!(growth < MOST_GROWTH, "{growth} bytes more than before");
    within("stopping", client.stop()).await;
}

/// The memory that this process has, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("there is a /proc");
    let pages = statm.split_whitespace().nth(1);
    let pages: usize = pages.and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}
