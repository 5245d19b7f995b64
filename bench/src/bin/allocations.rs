//! Counts the allocations of a call. With one thread, all that the client does
//! is on the thread that counts; the server is another process.
//!
//! Prints a line for each library: its name, allocations and bytes per call one
//! after the other, and the same with many in flight.

use bowline_bench::{
    clients::Caller,
    contender::{Flavour, Job, Library, Link, connect},
    measure::{WIDTH, in_flight},
};
use tokio::runtime::Runtime;

const CALLS: usize = 64 * 100;

fn main() {
    for (name, library) in [("bowline", Library::Bowline), ("rmcp", Library::Rmcp)] {
        let runtime = Flavour::Current.runtime();
        let [alone, many] = connect(library, Link::Child, &runtime, Count);
        println!("{name} {} {} {} {}", alone.0, alone.1, many.0, many.1);
    }
}

/// Counts allocations and bytes per call: one at a time, and many.
struct Count;

impl Job for Count {
    type Output = [(f64, f64); 2];

    fn run<C: Caller>(self, runtime: &Runtime, client: C) -> Self::Output {
        let alone = || runtime.block_on(one_by_one(&client));
        let many = || runtime.block_on(in_flight(&client, CALLS));
        alone();
        many();
        let alone = per_call(&allocation_counter::measure(alone), CALLS);
        let many = per_call(&allocation_counter::measure(many), CALLS / WIDTH * WIDTH);
        runtime.block_on(client.close());
        [alone, many]
    }
}

async fn one_by_one<C: Caller>(client: &C) {
    for _ in 0..CALLS {
        client.call().await;
    }
}

fn per_call(info: &allocation_counter::AllocationInfo, calls: usize) -> (f64, f64) {
    let calls = calls as f64;
    (
        info.count_total as f64 / calls,
        info.bytes_total as f64 / calls,
    )
}
