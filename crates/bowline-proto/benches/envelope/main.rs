//! What the envelope scan costs beside a full decode.
//!
//! `cargo bench -p bowline-proto --bench envelope` prints medians of interleaved
//! rounds. Seconds move with the machine; read the ratios. "typed" decodes the
//! whole frame into structs with owned strings and raw schemas, which is what a
//! client would do without a scan; "value" decodes into a tree. The scan is to
//! cost less than a third of "typed" on the large messages, and no allocation.

#![expect(clippy::print_stdout, reason = "the table is the purpose")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark needs a clock; the protocol does not"
)]

mod messages;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bowline_proto::jsonrpc::scan;
use serde_json::Value;

use messages::Case;

const ROUNDS: usize = 25;
/// Long enough for the clock, short enough for the rounds to interleave.
const SAMPLE: Duration = Duration::from_millis(4);

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let rounds = if std::env::args().any(|argument| argument == "--bench") {
        ROUNDS
    } else {
        1
    };
    println!(
        "{:<24} {:>10} | {:>12} {:>12} {:>12} | {:>7} {:>7} | {:>6} {:>6} {:>6}",
        "message",
        "bytes",
        "scan",
        "typed",
        "value",
        "s/typed",
        "s/value",
        "allocs",
        "typed",
        "value"
    );
    for case in messages::cases() {
        println!("{}", row(&case, rounds));
    }
}

fn row(case: &Case, rounds: usize) -> String {
    let frame = case.frame.as_bytes();
    let contenders: [&dyn Fn(); 3] = [
        &|| drop(black_box(scan(black_box(frame)).expect("a message"))),
        &|| drop(black_box((case.typed)(black_box(frame)))),
        &|| {
            drop(black_box(
                serde_json::from_slice::<Value>(black_box(frame)).expect("JSON"),
            ));
        },
    ];
    let times = medians(&contenders, rounds);
    let allocations = contenders.map(|run| allocation_counter::measure(run).count_total);
    let [scan, typed, value] = times;
    format!(
        "{:<24} {:>10} | {} {} {} | {:>7.3} {:>7.3} | {:>6} {:>6} {:>6}",
        case.name,
        frame.len(),
        nanoseconds(scan),
        nanoseconds(typed),
        nanoseconds(value),
        scan / typed,
        scan / value,
        allocations[0],
        allocations[1],
        allocations[2],
    )
}

/// The median nanoseconds of one run of each, all of them in every round.
fn medians<const N: usize>(contenders: &[&dyn Fn(); N], rounds: usize) -> [f64; N] {
    let repeats = contenders.map(repeats);
    let mut samples = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for ((run, repeats), samples) in contenders.iter().zip(repeats).zip(&mut samples) {
            let start = Instant::now();
            for _ in 0..repeats {
                run();
            }
            samples.push(start.elapsed().as_nanos() as f64 / f64::from(repeats));
        }
    }
    samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}

/// How often to run it to fill a sample; warms it up on the way.
fn repeats(run: &dyn Fn()) -> u32 {
    let mut repeats = 1;
    loop {
        let start = Instant::now();
        for _ in 0..repeats {
            run();
        }
        if start.elapsed() >= SAMPLE {
            return repeats;
        }
        repeats *= 2;
    }
}

fn nanoseconds(time: f64) -> String {
    match time {
        time if time >= 1e6 => format!("{:>9.2} ms", time / 1e6),
        time if time >= 1e3 => format!("{:>9.2} µs", time / 1e3),
        time => format!("{time:>9.0} ns"),
    }
}
