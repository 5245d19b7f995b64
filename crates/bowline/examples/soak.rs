//! Full load on a server that misbehaves at random, for as long as you like.
//!
//! `cargo run --release -p bowline --example soak -- <seconds> <command> [arguments…]`,
//! where the command starts a server whose tools answer with the call's nonce,
//! most of the time: `faulty_server flaky` does. Every call must
//! end, every result must be of its own request, and memory must stay flat.

#![expect(clippy::print_stdout, reason = "it reports")]

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bowline::{
    Client,
    proto::client::{Backoff, Telemetry, Timeouts},
    transport::ChildProcess,
};
use serde_json::json;

const WORKERS: usize = 64;
/// Tells every call from every other.
static NONCE: AtomicU64 = AtomicU64::new(0);
type Tally = Arc<Mutex<BTreeMap<String, u64>>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let seconds: u64 = words.next().ok_or("how many seconds?")?.parse()?;
    let command = words.next().ok_or("which command starts the server?")?;
    let tally = Tally::default();
    let client = connect(ChildProcess::new(command).args(words), &tally)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| tokio::spawn(work(client.clone(), Arc::clone(&tally), end)))
        .collect();
    let begin = Instant::now();
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_secs(30).min(end - Instant::now())).await;
        println!(
            "{:4} s: {} KiB resident",
            begin.elapsed().as_secs(),
            resident()
        );
    }
    for worker in workers {
        worker.await?;
    }
    println!("{:?}", client.health());
    client.stop().await;
    for (outcome, count) in &*tally.lock().unwrap_or_else(PoisonError::into_inner) {
        println!("{count:10} {outcome}");
    }
    Ok(())
}

fn connect(server: ChildProcess, tally: &Tally) -> Result<Client, Box<dyn std::error::Error>> {
    let timeouts = Timeouts {
        tool: Duration::from_secs(2),
        ..Timeouts::standard()
    };
    // Short waits, so that the load is full most of the time.
    let backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1), 0.2)?;
    let seen = Arc::clone(tally);
    let observer = move |telemetry: &Telemetry| match telemetry {
        Telemetry::Transition { .. } | Telemetry::Violation { .. } | Telemetry::LateResponse => {
            count(&seen, &format!("(seen) {}", telemetry.name()));
        }
        _ => {}
    };
    let builder = Client::builder().timeouts(timeouts).backoff(backoff);
    Ok(builder.observer(observer).connect_later(server))
}

/// Calls until the end. Whoever never gets an answer keeps this from ending.
async fn work(client: Client, tally: Tally, end: Instant) {
    while Instant::now() < end {
        let nonce = NONCE.fetch_add(1, Ordering::Relaxed);
        let call = client.tools().call("any", json!({"nonce": nonce}));
        match call.wait_for_connection().await {
            Ok(result) if result.all_text() == nonce.to_string() => count(&tally, "answered"),
            Ok(result) => count(&tally, &format!("WRONG ANSWER: {result:?}")),
            Err(error) => count(&tally, &format!("{:?}", error.reason())),
        }
    }
}

fn count(tally: &Tally, what: &str) {
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    match tally.get_mut(what) {
        Some(count) => *count += 1,
        None => {
            tally.insert(what.to_owned(), 1);
        }
    }
}

/// Memory of this process, in KiB.
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4
}
