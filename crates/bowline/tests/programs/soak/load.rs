//! Full load on one server that misbehaves at random.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use bowline::{
    Backoff, Client, Timeouts,
    client::{Observation, TelemetryEvent},
    transport::ChildProcess,
};
use serde_json::json;

use super::{
    figures::Tally,
    report::{judge_load, watch_memory},
};

const WORKERS: usize = 64;
/// Distinguishes every call from all others.
static NONCE: AtomicU64 = AtomicU64::new(0);

/// Loads the server for this many seconds.
pub(crate) async fn run(
    seconds: u64,
    command: String,
    words: impl Iterator<Item = String>,
) -> Result<(), Box<dyn std::error::Error>> {
    let tally = Tally::default();
    let client = connect(ChildProcess::new(command).args(words), &tally)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| tokio::spawn(work(client.clone(), tally.clone(), end)))
        .collect();
    let memory = watch_memory(std::process::id(), end).await;
    for worker in workers {
        worker.await?;
    }
    println!("{:?}", client.health());
    client.stop().await;
    tally.print();
    judge_load(&memory, &tally)
}

fn connect(server: ChildProcess, tally: &Tally) -> Result<Client, Box<dyn std::error::Error>> {
    let timeouts = Timeouts {
        tool: Duration::from_secs(2),
        ..Timeouts::standard()
    };
    // Short delays, so the load is full most of the time.
    let backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1), 0.2)?;
    let tally = tally.clone();
    let observer = move |seen: &Observation| match seen.event {
        TelemetryEvent::Transition { .. }
        | TelemetryEvent::Violation { .. }
        | TelemetryEvent::LateResponse => {
            tally.count(&format!("(seen) {}", seen.name()));
        }
        _ => {}
    };
    let builder = Client::builder().timeouts(timeouts).backoff(backoff);
    Ok(builder.observer(observer).connect_in_background(server))
}

/// Makes calls until the end. A call that never completes keeps this from
/// ending.
async fn work(client: Client, tally: Tally, end: Instant) {
    while Instant::now() < end {
        let nonce = NONCE.fetch_add(1, Ordering::Relaxed);
        let call = client.tools().call("any", json!({"nonce": nonce}));
        match call.wait_for_connection().await {
            Ok(result) if result.all_text() == nonce.to_string() => tally.count("answered"),
            Ok(result) => tally.fault(&format!("a wrong result: {result:?}")),
            Err(error) => tally.count(&format!("{:?}", error.reason())),
        }
    }
}
