//! The measurement, which is the same for all clients.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};

use super::{
    arguments::{Plan, Shape},
    client,
    load::{Client, Load, sample},
    start::Start,
};
use crate::{Failure, process::Process};

/// How long a server may take to end. Under valgrind that is long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the calls of the plan, and says what was seen: times in microseconds,
/// memory in bytes.
pub(crate) fn measure(plan: &Plan) -> Result<Value, Failure> {
    let text: Arc<str> = sample(plan.bytes).into();
    let width = match plan.shape {
        Shape::Parallel => plan.width,
        Shape::Sequential | Shape::Text => 1,
    };
    let mut seen = Map::new();

    let begun = Instant::now();
    let mut client = client::connect(plan, &Start::of(plan)?)?;
    let mut calls = plan.calls;
    if plan.warm_up {
        client.run(&mut Load::new(&text, 1, 1))?;
        seen.insert("connect".to_owned(), micros(begun.elapsed()).into());
        client.run(&mut Load::new(&text, calls.div_ceil(10), width))?;
    } else {
        // The first call is one of those that were asked for.
        client.run(&mut Load::new(&text, 1, 1))?;
        seen.insert("connect".to_owned(), micros(begun.elapsed()).into());
        calls -= 1;
    }

    let server = Process::server()?;
    if calls > 0 {
        let mut load = Load::new(&text, calls, width.min(calls));
        let before = (Process::own().cpu()?, server.cpu()?);
        let begun = Instant::now();
        client.run(&mut load)?;
        let took = begun.elapsed();
        let after = (Process::own().cpu()?, server.cpu()?);
        let each = |spent: Duration| micros(spent) / calls as f64;
        seen.insert(
            "cpu.client".to_owned(),
            each(after.0.saturating_sub(before.0)).into(),
        );
        seen.insert(
            "cpu.server".to_owned(),
            each(after.1.saturating_sub(before.1)).into(),
        );
        speak(plan, &mut load, took, &mut seen);
    }
    seen.insert("peak.client".to_owned(), Process::own().peak()?.into());
    seen.insert("peak.server".to_owned(), server.peak()?.into());
    end(&mut *client, server)?;
    Ok(Value::Object(seen))
}

/// What the times say.
fn speak(plan: &Plan, load: &mut Load, took: Duration, seen: &mut Map<String, Value>) {
    let seconds = took.as_secs_f64();
    seen.insert("rate".to_owned(), (load.calls as f64 / seconds).into());
    if plan.shape == Shape::Text {
        let megabytes = (load.calls * plan.bytes) as f64 / 1e6;
        seen.insert("megabytes".to_owned(), (megabytes / seconds).into());
    }
    load.times.sort_unstable();
    for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
        let index = (load.times.len() as f64 * part) as usize;
        if let Some(time) = load.times.get(index) {
            seen.insert(name.to_owned(), micros(*time).into());
        }
    }
}

/// Stops, and waits until the server has ended.
fn end(client: &mut dyn Client, server: Process) -> Result<(), Failure> {
    client.stop()?;
    let begun = Instant::now();
    while !server.has_ended() {
        if begun.elapsed() > PATIENCE {
            return Err("the server does not end".to_owned());
        }
        client.pause(Duration::from_millis(1));
    }
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
