//! Measures what a call costs, prints a table and writes `RESULTS.md`.

use std::{fs, path::Path, process::Command, process::ExitCode, thread};

use bowline_bench::{
    clients::sibling,
    contender::Contender,
    measure::{Plan, Sample},
    report::{Allocations, Report},
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (plan, keep) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (Plan::FULL, true),
        ["--quick"] => (Plan::QUICK, false),
        _ => {
            eprintln!("calls [--quick]");
            return ExitCode::from(2);
        }
    };
    // Before anything here runs: it is the others that matter.
    let load = load();
    let report = Report {
        load,
        cores: thread::available_parallelism().map_or(1, usize::from),
        allocations: allocations(),
        samples: samples(plan),
    };
    let text = report.text();
    print!("{text}");
    if !keep {
        eprintln!("A quick run: RESULTS.md stays as it was.");
        return ExitCode::SUCCESS;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
    match fs::write(path, text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("RESULTS.md cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Lets all take turns, so that what disturbs one disturbs all.
fn samples(plan: Plan) -> Vec<(Contender, Vec<Sample>)> {
    let all = Contender::all();
    let mut samples: Vec<_> = all.into_iter().map(|one| (one, Vec::new())).collect();
    for round in 1..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        for (contender, samples) in &mut samples {
            samples.push(contender.measure(plan));
        }
    }
    samples
}

/// Asks the program that counts.
fn allocations() -> Vec<Allocations> {
    let output = Command::new(sibling("allocations")).output();
    let output = output.expect("the counting program starts");
    assert!(output.status.success(), "the counting program failed");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| {
            let (name, figures) = line.split_once(' ')?;
            let figures: Vec<f64> = figures.split(' ').flat_map(str::parse).collect();
            Some(Allocations {
                name: name.to_owned(),
                figures: figures.try_into().ok()?,
            })
        })
        .collect()
}

fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
