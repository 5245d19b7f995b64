//! Calls that ask, with their journals in memory and in Redis.

use super::{http_server::Served, redis::Redis};
use crate::{
    Failure,
    figure::{
        Better::{Less, More},
        Figure, Target, Who,
    },
    group::{Contender, Group, Measured, Scale},
    process::Process,
    program,
};

/// Conversations per second, latency, processor time, and round trips to Redis.
pub(crate) fn group() -> Group {
    Group {
        name: "conversations",
        about: "Calls of 2026-07-28 over HTTP that ask one question, of a tool that returns 100 \
                bytes: two requests each, the second of which carries the state that the server \
                gave and the answer. The journals are in memory, or in a Redis on a Unix socket of \
                the same machine, with `appendonly yes`. Over 16 connections, and over one. Times \
                as long: the time of a conversation with Redis over that in memory. Round trips: \
                how often Redis reads from a connection while calls are made one after the other, \
                the median of batches, so that what a node does in the background does not count.",
        figures: FIGURES,
        contenders: vec![Contender {
            who: Who::Ours,
            measure: Box::new(measure),
        }],
        once: false,
    }
}

const fn figure(id: &'static str, title: &'static str, unit: &'static str) -> Figure {
    Figure {
        id,
        title,
        unit,
        better: Less,
        targets: &[],
    }
}

const fn rate(id: &'static str, title: &'static str) -> Figure {
    Figure {
        better: More,
        ..figure(id, title, "conversations/s")
    }
}

/// Round trips, with the most that there may be.
const fn trips(id: &'static str, title: &'static str, targets: &'static [Target]) -> Figure {
    Figure {
        targets,
        ..figure(id, title, "round trips to Redis")
    }
}

const FIGURES: &[Figure] = &[
    rate("conversations.memory.16.rate", "memory, 16 connections"),
    figure(
        "conversations.memory.16.cpu",
        "memory, 16 connections: CPU of the server",
        "µs",
    ),
    figure(
        "conversations.memory.1.p50",
        "memory, 1 connection: median time",
        "µs",
    ),
    rate("conversations.redis.16.rate", "Redis, 16 connections"),
    figure(
        "conversations.redis.16.cpu",
        "Redis, 16 connections: CPU of the server",
        "µs",
    ),
    figure(
        "conversations.redis.16.redis",
        "Redis, 16 connections: CPU of Redis",
        "µs",
    ),
    figure(
        "conversations.redis.1.p50",
        "Redis, 1 connection: median time",
        "µs",
    ),
    figure(
        "conversations.ratio.16",
        "Redis, 16 connections: times as long",
        "times",
    ),
    figure(
        "conversations.ratio.cpu",
        "Redis, 16 connections: times the CPU of the server",
        "times",
    ),
    figure(
        "conversations.ratio.1",
        "Redis, 1 connection: times as long",
        "times",
    ),
    trips(
        "conversations.trips.echo",
        "a call that asks nothing",
        &[Target::AtMost(0.0)],
    ),
    trips(
        "conversations.trips.ask",
        "a call with one question, both rounds together",
        &[Target::AtMost(2.0)],
    ),
    trips(
        "conversations.trips.step",
        "a call with one question and then one step",
        &[],
    ),
];

/// How many lanes a load has.
const WIDTH: usize = 16;
/// The batches in which round trips are counted, and the calls of each.
const BATCHES: usize = 15;
const BATCH: usize = 20;

fn measure(scale: Scale) -> Result<Measured, Failure> {
    let memory = {
        let served = serve("conversations", "memory")?;
        Load::measure(&served, None, scale)?
    };
    let mut redis = Redis::start()?;
    let served = serve("conversations", &redis.url())?;
    let stored = Load::measure(&served, Some(redis.process()), scale)?;
    let id = |what: &str| format!("conversations.{what}");
    let mut measured = vec![
        (id("memory.16.rate"), memory.rate),
        (id("memory.16.cpu"), memory.cpu),
        (id("memory.1.p50"), memory.p50),
        (id("redis.16.rate"), stored.rate),
        (id("redis.16.cpu"), stored.cpu),
        (id("redis.16.redis"), stored.store_cpu),
        (id("redis.1.p50"), stored.p50),
        (id("ratio.16"), memory.rate / stored.rate),
        (id("ratio.cpu"), stored.cpu / memory.cpu),
        (id("ratio.1"), stored.p50 / memory.p50),
    ];
    for tool in ["echo", "ask", "step"] {
        measured.push((
            id(&format!("trips.{tool}")),
            trips_of(&mut redis, &served, tool)?,
        ));
    }
    Ok(measured)
}

/// What conversations with one question took.
struct Load {
    rate: f64,
    /// Microseconds of the server for each.
    cpu: f64,
    /// Microseconds of the store for each.
    store_cpu: f64,
    /// Microseconds from the call to its result, on one connection.
    p50: f64,
}

impl Load {
    fn measure(served: &Served, store: Option<Process>, scale: Scale) -> Result<Self, Failure> {
        let many = scale.of(20_000);
        // Whatever is slow the first time is done then.
        talk(served, "ask", many / 10, WIDTH)?;
        let used = || {
            let store = store.map(Process::processor_time).transpose()?;
            let own = served.process().processor_time()?;
            Ok::<_, Failure>([own, store.unwrap_or_default()])
        };
        let before = used()?;
        let wide = talk(served, "ask", many, WIDTH)?;
        let after = used()?;
        let each = |what: usize| {
            let used = after[what].saturating_sub(before[what]);
            used.as_secs_f64() * 1e6 / wide.calls
        };
        let narrow = talk(served, "ask", scale.of(3_000), 1)?;
        Ok(Self {
            rate: wide.rate,
            cpu: each(0),
            store_cpu: each(1),
            p50: narrow.p50,
        })
    }
}

/// The round trips of a call.
fn trips_of(redis: &mut Redis, served: &Served, tool: &str) -> Result<f64, Failure> {
    // Loads the scripts.
    talk(served, tool, 1, 1)?;
    let mut batches = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let before = redis.reads()?;
        talk(served, tool, BATCH, 1)?;
        let reads = redis.reads()? - before - 1;
        batches.push(reads as f64 / BATCH as f64);
    }
    batches.sort_by(f64::total_cmp);
    Ok(batches[BATCHES / 2])
}

/// Starts our server with these tools, and its stores in memory or at this address.
pub(super) fn serve(tools: &str, store: &str) -> Result<Served, Failure> {
    let mut command = std::process::Command::new(program::sibling("stores")?);
    command.args(["serve", tools, store]);
    Served::run(command)
}

/// What the client says of its calls.
struct Talked {
    calls: f64,
    rate: f64,
    p50: f64,
}

fn talk(served: &Served, tool: &str, times: usize, width: usize) -> Result<Talked, Failure> {
    let mut command = std::process::Command::new(program::sibling("stores")?);
    command.args(["talk", served.address(), tool]);
    command.args([times.to_string(), width.to_string()]);
    let measured = program::measured(command)?;
    let of = |name: &str| {
        let found = measured.iter().find(|(known, _)| known == name);
        found.map_or(Err(format!("no {name} was printed")), |(_, it)| Ok(*it))
    };
    Ok(Talked {
        calls: of("calls")?,
        rate: of("rate")?,
        p50: of("p50_us")?,
    })
}
