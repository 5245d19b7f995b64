//! The honest peer's calls, alone and amid the others, and what came of them.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use bowline::Client;
use serde_json::json;
use tokio::time::{interval, sleep_until};

use super::{
    Failure,
    figures::{Sorted, Tally, Times, resident},
};

/// How long the honest peer is measured alone.
const ALONE: Duration = Duration::from_secs(20);
/// Between two honest calls.
const PACE: Duration = Duration::from_millis(20);
/// Between two readings of memory.
const READING: Duration = Duration::from_secs(30);

/// Calls an honest server, and says how long each call took.
pub(crate) async fn call_honestly(client: Client, times: Times, tally: Tally) {
    let mut pace = interval(PACE);
    loop {
        pace.tick().await;
        let begun = Instant::now();
        let call = client.tools().call("echo", json!({"message": "hello"}));
        match call.await {
            Ok(result) if result.all_text() == "hello" => times.add(begun.elapsed()),
            Ok(_) => tally.count("HONEST CALL, WRONG ANSWER"),
            Err(error) => tally.count(&format!("HONEST CALL FAILED: {error}")),
        }
    }
}

/// Measures the honest peer alone, then while `attack` goes on, and the memory
/// of the process that is attacked.
pub(crate) async fn measure(
    seconds: u64,
    process: u32,
    times: &Times,
    attack: impl Future<Output = ()>,
) -> Result<(), Failure> {
    tokio::time::sleep(ALONE).await;
    let usual = times.take();
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds);
    let mut readings = Vec::new();
    let read = async {
        while Instant::now() < end {
            let next = (Instant::now() + READING).min(end);
            sleep_until(next.into()).await;
            readings.push(resident(process));
            let (at, kib) = (begin.elapsed().as_secs(), resident(process));
            println!("{at:5} s: {kib} KiB");
        }
    };
    tokio::select! {
        () = read => {}
        () = attack => return Err("the attack ended by itself".into()),
    }
    judge(&usual, &times.take(), &readings);
    Ok(())
}

fn judge(usual: &Sorted, amid: &Sorted, readings: &[u64]) {
    let show = |what: &str, times: &Sorted| {
        println!(
            "honest calls {what}: {}; median {:?}, 95th percentile {:?}, 99th {:?}",
            times.len(),
            times.percentile(50),
            times.percentile(95),
            times.percentile(99),
        );
    };
    show("alone", usual);
    show("under attack", amid);
    println!(
        "honest calls under attack take {:.2} times as long (median), {:.2} times (95th percentile)",
        amid.ratio(usual, 50),
        amid.ratio(usual, 95),
    );
    // The first readings are of tables and pools that are still being filled.
    let settled = readings.get(readings.len() / 4..).unwrap_or_default();
    let (least, most) = (settled.iter().min(), settled.iter().max());
    println!("memory, after the first quarter: from {least:?} to {most:?} KiB");
}
