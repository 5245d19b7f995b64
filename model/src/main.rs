//! Explores the models within larger bounds than the tests do, and prints the table and
//! the shortest way to break each promise.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::time::Instant;

use bowline_model::{
    models::Bounds,
    promise::Promise,
    table::{Table, rows},
};

fn main() {
    let is_small = std::env::args().any(|argument| argument == "--small");
    let bounds = if is_small {
        Bounds::Small
    } else {
        Bounds::Large
    };
    let start = Instant::now();
    let table = Table::compute(bounds);
    for promise in Promise::ALL {
        println!("{promise}: {}", promise.sentence());
    }
    println!("\n{}", table.to_markdown());
    for (model, explored) in table.explorations() {
        let (states, transitions, depth) = (explored.states, explored.transitions, explored.depth);
        println!("{model}: {states} states, {transitions} transitions, depth {depth}");
    }
    println!("{} states in {:?}", table.states(), start.elapsed());
    for row in rows() {
        for promise in table.broken(row.name).iter() {
            println!(
                "\n{}: {promise} is broken ({}):",
                row.name,
                promise.sentence()
            );
            let steps = table.counterexample(row.name, promise).unwrap_or_default();
            for (number, step) in steps.iter().enumerate() {
                println!("{:>4}. {step}", number + 1);
            }
        }
    }
}
