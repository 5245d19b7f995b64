//! Measures the honest peer's calls, alone and during the attack, and reports
//! the result.

use std::{
    future::Future,
    process,
    time::{Duration, Instant},
};

use bowline::Client;
use serde_json::json;
use tokio::time::{interval, sleep, sleep_until};

use super::{
    Failure,
    figures::{Sorted, Tally, Times, processor_time, processor_time_of_children, resident},
    verdict::{Measured, memory_fault, quarter_peaks},
};

/// How long the honest peer is measured alone.
const ALONE: Duration = Duration::from_secs(20);
/// The interval between two honest calls.
const PACE: Duration = Duration::from_millis(20);
/// The interval between two memory readings. Peaks are short.
const READING: Duration = Duration::from_millis(200);
/// The number of readings from one that is printed to the next.
const PRINTED: usize = 150;

/// Calls an honest server and records how long each call takes.
pub(crate) async fn call_honestly(client: Client, times: Times, tally: Tally) {
    let mut pace = interval(PACE);
    loop {
        pace.tick().await;
        let begun = Instant::now();
        let call = client.tools().call("echo", json!({"message": "hello"}));
        match call.await {
            Ok(result) if result.all_text() == "hello" => times.add(begun.elapsed()),
            Ok(_) => tally.fault("an honest call had a wrong result"),
            Err(error) => tally.fault(&format!("an honest call failed: {error:#}")),
        }
    }
}

/// Measures the honest peer alone, then during `attack`, and the memory of the
/// process under test. Returns an error if a limit is exceeded.
pub(crate) async fn measure(
    seconds: u64,
    process: u32,
    times: &Times,
    tally: &Tally,
    attack: impl Future<Output = ()>,
) -> Result<(), Failure> {
    sleep(ALONE).await;
    let usual = times.take();
    let begin = Busy::look(process);
    let end = begin.at + Duration::from_secs(seconds);
    tokio::select! {
        memory = watch_memory(process, end) => {
            let amid = times.take();
            begin.print();
            print_times(&usual, &amid);
            let broken = tally.faults();
            let measured = Measured {
                memory,
                usual: usual.percentile(50),
                amid: amid.percentile(50),
                honest_calls: amid.len(),
                broken,
            };
            print_memory(&measured.memory);
            passed(&measured.faults())
        }
        () = attack => Err("the attack ended by itself".into()),
    }
}

/// Reads the memory of a process until `end` or until the process has died.
pub(crate) async fn watch_memory(process: u32, end: Instant) -> Vec<Option<u64>> {
    let begin = Instant::now();
    let mut readings = Vec::new();
    while Instant::now() < end && readings.last() != Some(&None) {
        sleep_until((Instant::now() + READING).min(end).into()).await;
        let reading = resident(process);
        if readings.len() % PRINTED == 0 {
            let kib = reading.unwrap_or_default();
            println!("{:5} s: {kib} KiB", begin.elapsed().as_secs());
        }
        readings.push(reading);
    }
    readings
}

/// Returns the verdict of a run without honest calls.
pub(crate) fn judge_load(memory: &[Option<u64>], tally: &Tally) -> Result<(), Failure> {
    print_memory(memory);
    let mut faults = tally.faults();
    faults.extend(memory_fault(memory));
    passed(&faults)
}

fn passed(faults: &[String]) -> Result<(), Failure> {
    if faults.is_empty() {
        println!("passed");
        return Ok(());
    }
    for fault in faults {
        println!("FAILED: {fault}");
    }
    Err(format!("the run failed: {} limits were violated", faults.len()).into())
}

fn print_times(usual: &Sorted, amid: &Sorted) {
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
}

fn print_memory(readings: &[Option<u64>]) {
    let readings: Vec<u64> = readings.iter().copied().flatten().collect();
    if let Some((first, last)) = quarter_peaks(&readings) {
        println!("memory: peak of the first quarter {first} KiB, of the last {last} KiB");
    }
}

/// The CPU usage since a point in time.
struct Busy {
    at: Instant,
    process: u32,
    attacked: Duration,
    children: Duration,
}

impl Busy {
    fn look(process: u32) -> Self {
        Self {
            at: Instant::now(),
            process,
            attacked: processor_time(process).unwrap_or_default(),
            children: processor_time_of_children(process::id()).unwrap_or_default(),
        }
    }

    fn print(&self) {
        let now = Self::look(self.process);
        let share = |used: Duration| used.as_secs_f64() / self.at.elapsed().as_secs_f64();
        println!(
            "CPU: the process under test uses {:.2} of a core; \
             children that have ended used {:.2}",
            share(now.attacked.saturating_sub(self.attacked)),
            share(now.children.saturating_sub(self.children)),
        );
    }
}
