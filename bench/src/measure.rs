//! What is measured, and how.

use std::{
    fs,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};

use crate::{clients::Caller, raw::Raw};

/// How many calls are in flight where many are.
pub const WIDTH: usize = 64;

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds through all contenders.
    pub rounds: usize,
    /// Calls one after the other, per contender and round.
    pub sequential: usize,
    /// Calls with [`WIDTH`] in flight, per contender and round.
    pub parallel: usize,
}

impl Plan {
    /// What results are made of.
    pub const FULL: Self = Self {
        rounds: 7,
        sequential: 5_000,
        parallel: 64_000,
    };
    /// To see whether it works.
    pub const QUICK: Self = Self {
        rounds: 3,
        sequential: 1_000,
        parallel: 12_800,
    };
}

/// One contender in one round.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Half of the sequential calls took no longer, in microseconds.
    pub p50: f64,
    /// 99 of 100 sequential calls took no longer, in microseconds.
    pub p99: f64,
    /// Calls per second with [`WIDTH`] in flight.
    pub rate: f64,
    /// Processor time of this process per call with [`WIDTH`] in flight, in
    /// microseconds.
    pub cpu: f64,
}

/// Measures a connected client, and closes it.
pub fn client<C: Caller>(runtime: &Runtime, client: C, plan: Plan) -> Sample {
    let result = runtime.block_on(async {
        in_flight(&client, plan.parallel / 10).await;
        // In a task, as calls in programs are; the main future of a runtime
        // with many threads is on a thread of its own.
        let alone = client.clone();
        let times = tokio::spawn(async move { sequential(&alone, plan.sequential).await });
        let times = times.await.expect("calls do not panic");
        let before = (Instant::now(), cpu_time());
        in_flight(&client, plan.parallel).await;
        sample(times, before, plan.parallel)
    });
    runtime.block_on(client.close());
    result
}

/// Measures the least that is possible.
#[must_use]
pub fn raw(plan: Plan) -> Sample {
    let mut raw = Raw::start();
    raw.pipelined(WIDTH, plan.parallel / 10);
    let times = (0..plan.sequential).map(|_| {
        let start = Instant::now();
        raw.call();
        start.elapsed()
    });
    let times = times.collect();
    let before = (Instant::now(), cpu_time());
    raw.pipelined(WIDTH, plan.parallel);
    let sample = sample(times, before, plan.parallel);
    raw.close();
    sample
}

/// Makes calls one after the other, and takes the time of each.
pub async fn sequential<C: Caller>(client: &C, calls: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let start = Instant::now();
        client.call().await;
        times.push(start.elapsed());
    }
    times
}

/// Makes calls with [`WIDTH`] in flight, each in a task of its own.
pub async fn in_flight<C: Caller>(client: &C, calls: usize) {
    let mut tasks = JoinSet::new();
    for _ in 0..WIDTH {
        let client = client.clone();
        tasks.spawn(async move {
            for _ in 0..calls / WIDTH {
                client.call().await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("calls do not panic");
    }
}

fn sample(mut times: Vec<Duration>, before: (Instant, Duration), calls: usize) -> Sample {
    let wall = before.0.elapsed().as_secs_f64();
    let cpu = cpu_time().saturating_sub(before.1).as_secs_f64();
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e6;
    let calls = (calls / WIDTH * WIDTH) as f64;
    Sample {
        p50: at(50),
        p99: at(99),
        rate: calls / wall,
        cpu: cpu / calls * 1e6,
    }
}

/// The processor time of all threads that this process has now; zero where the
/// system does not tell.
fn cpu_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanoseconds = tasks.flatten().filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}
