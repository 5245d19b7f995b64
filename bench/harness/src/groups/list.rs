//! Lists of a thousand tools.

use crate::{
    Failure,
    figure::{Better, Figure, Who},
    group::{Contender, Group, Measured, Scale},
    program::{contender, measured},
};

/// Reading and serving a list of a thousand tools.
pub(crate) fn group() -> Group {
    Group {
        name: "list",
        about: "A list of 1,000 tools, each with a description of 100 bytes and a schema of four \
                properties, over a pipe in memory. Read: by a client, from a server that sends \
                bytes that were ready before; the baseline reads the bytes into structs that borrow \
                from them, with schemas as text. Served: to a client that only reads bytes, 1,500 \
                times a round, so more than 10,000 times in all; ours with its default settings, \
                that is in 10 pages. Each serves the schemas that it makes of the same struct; ours \
                are the longest. CPU is that of both ends.",
        figures: FIGURES,
        contenders: vec![
            listing(Who::Ours, "ours"),
            listing(Who::Rmcp, "rmcp"),
            listing(Who::RmcpTuned, "rmcp-tuned"),
            listing(Who::Limit, "limit"),
        ],
        once: false,
    }
}

const FIGURES: &[Figure] = &[
    Figure {
        id: "list.decode.time",
        title: "read a list of 1,000 tools",
        unit: "ms",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "list.decode.cpu",
        title: "read a list of 1,000 tools, CPU",
        unit: "ms",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "list.serve.rate",
        title: "serve a list of 1,000 tools",
        unit: "lists/s",
        better: Better::More,
        targets: &[],
    },
    Figure {
        id: "list.serve.cpu",
        title: "serve a list of 1,000 tools, CPU",
        unit: "µs",
        better: Better::Less,
        targets: &[],
    },
];

/// How often each reads the list.
const READ: usize = 150;

/// How often each serves it.
const SERVED: usize = 1_500;

fn listing(who: Who, name: &'static str) -> Contender {
    Contender {
        who,
        measure: Box::new(move |scale| both(name, scale)),
    }
}

fn both(name: &str, scale: Scale) -> Result<Measured, Failure> {
    let read = scale.of(READ).to_string();
    let served = scale.of(SERVED).to_string();
    let mut figures = measured(contender(&["list", "decode", name, "--times", &read])?)?;
    figures.extend(measured(contender(&[
        "list", "serve", name, "--times", &served,
    ])?)?);
    Ok(figures)
}
