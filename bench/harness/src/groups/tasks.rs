//! Many tasks that wait for answers: what they keep in memory, and what it costs
//! to poll them.

use std::{
    thread::{self, park_timeout},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    conversations::serve,
    http_server::{Ask, Connection, Served, TEXT},
};
use crate::{
    Failure,
    figure::{Better::Less, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
};

/// Memory per waiting task, and processor time per poll.
pub(crate) fn group() -> Group {
    let contender = |who, measure: fn(Scale) -> Result<Measured, Failure>| Contender {
        who,
        measure: Box::new(measure),
    };
    Group {
        name: "tasks",
        about: "A server with 10,000 tasks of 2026-07-28, in memory, whose tool has 100 bytes of \
                arguments and waits for the answer to a question. Memory is how much the resident \
                memory grows by each; 100 were there before. Tasks of the runtime are those that \
                each adds: a timer of its own would need one. Then nothing happens for two \
                seconds, and then `tasks/get` asks for one after the other over 16 HTTP \
                connections, 1,000 times a second, and after that a tool that asks nothing is \
                called as often. The baseline is a call of bare hyper at the same pace. A server \
                that is asked so seldom goes to sleep after every answer, which is most of the \
                cost.",
        figures: FIGURES,
        contenders: vec![contender(Who::Ours, ours), contender(Who::Limit, limit)],
        once: false,
    }
}

const fn figure(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    targets: &'static [Target],
) -> Figure {
    Figure {
        id,
        title,
        unit,
        better: Less,
        targets,
    }
}

const FIGURES: &[Figure] = &[
    figure(
        "tasks.waiting.memory",
        "waiting task: memory",
        "bytes",
        &[Target::AtMost(4096.0)],
    ),
    figure(
        "tasks.waiting.alive",
        "waiting task: tasks of the runtime",
        "tasks",
        &[Target::AtMost(0.0)],
    ),
    figure(
        "tasks.idle.wakeups",
        "10,000 waiting tasks: wake-ups in a second",
        "wake-ups",
        &[],
    ),
    figure(
        "tasks.idle.cpu",
        "10,000 waiting tasks: CPU in a second",
        "µs",
        &[],
    ),
    figure(
        "tasks.poll.cpu",
        "1,000 polls/s: CPU per poll",
        "µs",
        &[Target::AtMost(40.0)],
    ),
    figure("tasks.poll.p50", "1,000 polls/s: median latency", "µs", &[]),
    figure(
        "tasks.call.cpu",
        "1,000 plain calls/s: CPU per call",
        "µs",
        &[],
    ),
];

const MANY: usize = 10_000;
/// Those that were there before.
const FIRST: usize = 100;
const CONNECTIONS: usize = 16;
/// The time from one poll to the next.
const PACE: Duration = Duration::from_millis(1);
/// How long nothing happens.
const STILL: Duration = Duration::from_secs(2);

fn ours(scale: Scale) -> Result<Measured, Failure> {
    let (many, polls) = (scale.of(MANY), scale.of(4_000));
    let served = serve("tasks", "memory")?;
    let mut connections = connect(&served)?;
    let ids = start(&mut connections, scale.of(FIRST))?;
    wait(&mut connections[0], &ids)?;
    let (alive, memory) = (alive(&mut connections[0])?, served.settled_memory()?);

    let ids = start(&mut connections, many)?;
    wait(&mut connections[0], &ids[many - 1..])?;
    let memory = (served.settled_memory()? - memory) / many as f64;
    wait(&mut connections[0], &ids)?;
    let alive = (self::alive(&mut connections[0])? - alive) / many as f64;

    let process = served.process();
    let (cpu, waits) = (process.processor_time()?, process.waits()?);
    thread::sleep(STILL);
    let (cpu, waits) = (process.processor_time()? - cpu, process.waits()? - waits);

    let gets: Vec<Ask> = ids.iter().map(|id| get(id)).collect();
    let polled = paced(&served, &mut connections, &gets, "input_required", polls)?;
    let calls = [call("alive", &json!({}))];
    let called = paced(&served, &mut connections, &calls, "\"content\"", polls)?;
    let id = |what: &str| format!("tasks.{what}");
    Ok(vec![
        (id("waiting.memory"), memory),
        (id("waiting.alive"), alive),
        (id("idle.wakeups"), waits as f64 / STILL.as_secs_f64()),
        (
            id("idle.cpu"),
            cpu.as_secs_f64() * 1e6 / STILL.as_secs_f64(),
        ),
        (id("poll.cpu"), polled.cpu),
        (id("poll.p50"), polled.p50),
        (id("call.cpu"), called.cpu),
    ])
}

fn limit(scale: Scale) -> Result<Measured, Failure> {
    let served = Served::start(Who::Limit)?;
    let mut connections = connect(&served)?;
    let calls = [Ask::modern_call("echo")];
    let called = paced(&served, &mut connections, &calls, TEXT, scale.of(4_000))?;
    let ids = ["tasks.poll.cpu", "tasks.call.cpu"];
    let mut measured: Measured = ids
        .iter()
        .map(|id| ((*id).to_owned(), called.cpu))
        .collect();
    measured.push(("tasks.poll.p50".to_owned(), called.p50));
    Ok(measured)
}

fn connect(served: &Served) -> Result<Vec<Connection>, Failure> {
    let connections = (0..CONNECTIONS).map(|_| Connection::open(served.address()));
    connections.collect()
}

/// Has so many tasks made, and gives their ids.
fn start(connections: &mut [Connection], many: usize) -> Result<Vec<String>, Failure> {
    let ask = call("wait", &json!({"message": TEXT}));
    let mut ids = Vec::with_capacity(many);
    for number in 0..many {
        let connection = &mut connections[number % CONNECTIONS];
        let answer = connection.ask(&ask)?.expect(200)?.body;
        let read: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let id = read["result"]["taskId"].as_str();
        let id = id.ok_or_else(|| format!("it did not become a task: {answer}"))?;
        ids.push(id.to_owned());
    }
    Ok(ids)
}

/// Waits until all of these tasks wait for an answer.
fn wait(connection: &mut Connection, ids: &[String]) -> Result<(), Failure> {
    let until = Instant::now() + Duration::from_secs(20);
    for id in ids {
        let ask = get(id);
        loop {
            let answer = connection.ask(&ask)?.expect(200)?.body;
            if answer.contains("input_required") {
                break;
            }
            if Instant::now() > until {
                return Err(format!("a task does not ask: {answer}"));
            }
            park_timeout(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// How many tasks the server's runtime has.
fn alive(connection: &mut Connection) -> Result<f64, Failure> {
    let answer = connection
        .ask(&call("alive", &json!({})))?
        .expect(200)?
        .body;
    let read: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
    let text = read["result"]["content"][0]["text"].as_str();
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("not a number: {answer}"))
}

/// A call by a client that can answer questions and follow tasks.
fn call(tool: &str, arguments: &Value) -> Ask {
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta()});
    Ask::modern("tools/call", Some(tool), params)
}

/// A poll.
fn get(id: &str) -> Ask {
    Ask::modern(
        "tasks/get",
        Some(id),
        json!({"taskId": id, "_meta": meta()}),
    )
}

fn meta() -> Value {
    json!({"io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {"form": {}},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    }})
}

/// What requests at a steady pace took, each, in microseconds.
struct Paced {
    cpu: f64,
    p50: f64,
}

/// Makes requests at a steady pace, in turns over all connections. All answers must
/// have this in them.
fn paced(
    served: &Served,
    connections: &mut [Connection],
    asks: &[Ask],
    expected: &str,
    many: usize,
) -> Result<Paced, Failure> {
    let (before, began) = (served.process().processor_time()?, Instant::now());
    let mut latencies = Vec::with_capacity(many);
    for number in 0..many {
        // By the clock: a late answer does not delay those after it.
        let at = began + PACE * number as u32;
        thread::sleep(at.saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        let ask = &asks[number % asks.len()];
        let answer = connections[number % CONNECTIONS].ask(ask)?.expect(200)?;
        latencies.push(sent.elapsed());
        if !answer.body.contains(expected) {
            return Err(format!("{expected} was expected in {answer:?}"));
        }
    }
    let took = began.elapsed();
    if took > PACE * many as u32 * 11 / 10 {
        return Err(format!(
            "{many} requests took {took:?}: the pace was not kept"
        ));
    }
    let used = served.process().processor_time()?.saturating_sub(before);
    latencies.sort_unstable();
    Ok(Paced {
        cpu: used.as_secs_f64() * 1e6 / many as f64,
        p50: latencies[many / 2].as_secs_f64() * 1e6,
    })
}
