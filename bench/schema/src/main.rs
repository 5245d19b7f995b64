//! What schemas cost: `schema check <who> <times>` and `schema tools <who> <times>`,
//! where who is `ours` or `jsonschema`.
//!
//! A package of its own, so that it is built without the contenders over the wire.

mod arguments;
mod check;
mod generated;
mod tools;

use std::{process::ExitCode, time::Instant};

/// What went wrong, in words for the person at the terminal.
type Failure = String;

/// What came out, by the ids of the figures.
type Measured = Vec<(String, f64)>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(measured) => {
            report(measured);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("schema: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<Measured, Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [what, who, times] = arguments[..] else {
        return Err("check | tools, then ours | jsonschema, then how many times".to_owned());
    };
    let times: u32 = times
        .parse()
        .map_err(|_| format!("{times:?} is no number"))?;
    match (what, who) {
        ("check", "ours") => check::measure::<check::Ours>(times),
        ("check", "jsonschema") => check::measure::<check::Jsonschema>(times),
        ("tools", "ours") => tools::ours(times),
        ("tools", "jsonschema") => tools::jsonschema(times),
        _ => Err(format!("there is no {what} of {who}")),
    }
}

/// Returns the seconds that one run takes: the mean of so many, after a tenth of them.
fn seconds(times: u32, mut run: impl FnMut()) -> f64 {
    (0..times.div_ceil(10)).for_each(|_| run());
    let start = Instant::now();
    (0..times).for_each(|_| run());
    start.elapsed().as_secs_f64() / f64::from(times)
}

/// Prints what was measured, as the harness reads it.
fn report(measured: Measured) {
    let line: serde_json::Map<String, serde_json::Value> = measured
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    println!("{}", serde_json::Value::Object(line));
}
