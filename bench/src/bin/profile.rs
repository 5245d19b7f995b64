//! One client that makes calls, for a profiler: `profile <bowline|rmcp>
//! <child|memory> <calls> [many] [threads]`, with many calls in flight and on
//! many threads if you say so. Run it with N and 2 N calls; the difference is
//! what N calls cost.

use std::process::ExitCode;

use bowline_bench::{
    clients::Caller,
    contender::{Flavour, Job, Library, Link, connect},
    measure::in_flight,
};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some((library, link, calls)) = read(&arguments) else {
        eprintln!("profile <bowline|rmcp> <child|memory> <calls> [many] [threads]");
        return ExitCode::from(2);
    };
    let many = arguments.contains(&"many");
    let flavour = match arguments.contains(&"threads") {
        true => Flavour::Multi,
        false => Flavour::Current,
    };
    connect(library, link, &flavour.runtime(), Calls { calls, many });
    ExitCode::SUCCESS
}

fn read(arguments: &[&str]) -> Option<(Library, Link, usize)> {
    let [library, link, calls, ..] = arguments else {
        return None;
    };
    let library = match *library {
        "bowline" => Library::Bowline,
        "rmcp" => Library::Rmcp,
        _ => return None,
    };
    let link = match *link {
        "child" => Link::Child,
        "memory" => Link::Memory,
        _ => return None,
    };
    Some((library, link, calls.parse().ok()?))
}

struct Calls {
    calls: usize,
    many: bool,
}

impl Job for Calls {
    type Output = ();

    fn run<C: Caller>(self, runtime: &Runtime, client: C) {
        runtime.block_on(async {
            if self.many {
                in_flight(&client, self.calls).await;
            } else {
                for _ in 0..self.calls {
                    client.call().await;
                }
            }
            client.close().await;
        });
    }
}
