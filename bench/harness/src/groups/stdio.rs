//! Calls over standard streams, both sides of one kind.

use std::process::Command;

use crate::{
    Failure,
    figure::{Better, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
    program::{measured, sibling},
};

/// The client starts the server, and calls its tool `echo`.
pub(crate) fn group() -> Group {
    Group {
        name: "stdio",
        about: ABOUT,
        figures: FIGURES,
        contenders: contenders(FIGURES, both_sides),
        once: false,
    }
}

const ABOUT: &str = "Calls of a tool that returns its text, over standard streams, 2025-11-25; \
    client and server are of one kind. 100 bytes of text, unless said; in longer texts now and \
    then something must be escaped. Parallel: 64 in flight, by 64 tasks where there are tasks. One \
    core: both processes pinned to the same. Text in MB/s counts one way. Connect: from before \
    the start of the server's process until the first call is answered. Memory: the most that \
    was resident, after the parallel calls, and after those with 10 MB of text. The baseline is \
    there twice, on tokio and blocking; each figure is that of the better one.";

// tidy: long table, one entry for each figure
const FIGURES: &[Figure] = &[
    Figure {
        id: "stdio.sequential.p50",
        title: "one by one, median",
        unit: "µs",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.sequential.p99",
        title: "one by one, 99 of 100",
        unit: "µs",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.one-core.p50",
        title: "one by one, both on one core, median",
        unit: "µs",
        better: Better::Less,
        targets: &[Target::AtMost(20.0)],
    },
    Figure {
        id: "stdio.parallel.rate",
        title: "64 in flight",
        unit: "calls/s",
        better: Better::More,
        targets: &[Target::TimesRmcp(3.0), Target::OfLimit(0.6)],
    },
    Figure {
        id: "stdio.cpu.client",
        title: "CPU per call of the client, 64 in flight",
        unit: "µs",
        better: Better::Less,
        targets: &[Target::AtMost(6.0)],
    },
    Figure {
        id: "stdio.cpu.server",
        title: "CPU per call of the server, 64 in flight",
        unit: "µs",
        better: Better::Less,
        targets: &[Target::AtMost(6.0)],
    },
    Figure {
        id: "stdio.text-1mb.rate",
        title: "texts of 1 MB",
        unit: "MB/s",
        better: Better::More,
        targets: &[Target::TimesRmcp(2.0), Target::OfLimit(0.8)],
    },
    Figure {
        id: "stdio.text-10mb.rate",
        title: "texts of 10 MB",
        unit: "MB/s",
        better: Better::More,
        targets: &[],
    },
    Figure {
        id: "stdio.connect",
        title: "connect to first answer",
        unit: "ms",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.memory.client",
        title: "peak memory of the client",
        unit: "MB",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.memory.server",
        title: "peak memory of the server",
        unit: "MB",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.memory-10mb.client",
        title: "peak memory of the client, texts of 10 MB",
        unit: "MB",
        better: Better::Less,
        targets: &[],
    },
    Figure {
        id: "stdio.memory-10mb.server",
        title: "peak memory of the server, texts of 10 MB",
        unit: "MB",
        better: Better::Less,
        targets: &[],
    },
];

/// All of them on one pair of programs.
fn both_sides(name: &str, scale: Scale) -> Result<Measured, Failure> {
    let run = Run::of(name, name);
    let sequential = run.calls("sequential", scale.of(4000)).measure()?;
    let one_core = run
        .calls("sequential", scale.of(4000))
        .on_one_core()
        .measure()?;
    let parallel = run.calls("parallel", scale.of(30_000)).measure()?;
    let text = run.calls("text", scale.of(30)).bytes(1_000_000).measure()?;
    let long = run.calls("text", scale.of(5)).bytes(10_000_000).measure()?;
    Ok(vec![
        figure("stdio.sequential.p50", &sequential, "p50", 1.0)?,
        figure("stdio.sequential.p99", &sequential, "p99", 1.0)?,
        figure("stdio.one-core.p50", &one_core, "p50", 1.0)?,
        figure("stdio.parallel.rate", &parallel, "rate", 1.0)?,
        figure("stdio.cpu.client", &parallel, "cpu.client", 1.0)?,
        figure("stdio.cpu.server", &parallel, "cpu.server", 1.0)?,
        figure("stdio.text-1mb.rate", &text, "megabytes", 1.0)?,
        figure("stdio.text-10mb.rate", &long, "megabytes", 1.0)?,
        figure("stdio.connect", &sequential, "connect", 1e-3)?,
        figure("stdio.memory.client", &parallel, "peak.client", 1e-6)?,
        figure("stdio.memory.server", &parallel, "peak.server", 1e-6)?,
        figure("stdio.memory-10mb.client", &long, "peak.client", 1e-6)?,
        figure("stdio.memory-10mb.server", &long, "peak.server", 1e-6)?,
    ])
}

/// How one of the programs of [`contenders`] is measured, by its name.
pub(super) type Measure = fn(&str, Scale) -> Result<Measured, Failure>;

/// All who take turns over standard streams.
pub(super) fn contenders(figures: &'static [Figure], measure: Measure) -> Vec<Contender> {
    let simple = |who, name: &'static str| Contender {
        who,
        measure: Box::new(move |scale| measure(name, scale)),
    };
    vec![
        simple(Who::Ours, "ours"),
        simple(Who::Rmcp, "rmcp"),
        simple(Who::RmcpTuned, "rmcp-tuned"),
        Contender {
            who: Who::Limit,
            measure: Box::new(move |scale| {
                let first = measure("limit", scale)?;
                let second = measure("limit-blocking", scale)?;
                Ok(better(figures, first, &second))
            }),
        },
        simple(Who::Bare, "bare"),
    ]
}

/// The better of two, figure by figure.
fn better(figures: &[Figure], first: Measured, second: &Measured) -> Measured {
    let choose = |(id, one): (String, f64)| {
        let better = figures
            .iter()
            .find(|figure| figure.id == id)
            .map(|figure| figure.better);
        let other = second
            .iter()
            .find(|(other, _)| *other == id)
            .map_or(one, |(_, other)| *other);
        let chosen = match better {
            Some(Better::More) => one.max(other),
            Some(Better::Less) | None => one.min(other),
        };
        (id, chosen)
    };
    first.into_iter().map(choose).collect()
}

/// What the program saw, as a figure.
pub(super) fn figure(
    id: &str,
    seen: &Measured,
    name: &str,
    factor: f64,
) -> Result<(String, f64), Failure> {
    let found = seen.iter().find(|(seen, _)| seen == name);
    match found {
        Some((_, number)) => Ok((id.to_owned(), number * factor)),
        None => Err(format!("{name} was not measured for {id}")),
    }
}

/// One run of the program that calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    client: &'a str,
    server: &'a str,
    shape: &'a str,
    calls: usize,
    bytes: usize,
    one_core: bool,
}

impl<'a> Run<'a> {
    /// Of these two.
    pub(super) fn of(client: &'a str, server: &'a str) -> Self {
        Self {
            client,
            server,
            shape: "sequential",
            calls: 1,
            bytes: 100,
            one_core: false,
        }
    }

    /// So many calls.
    pub(super) fn calls(self, shape: &'a str, calls: usize) -> Self {
        Self {
            shape,
            calls,
            ..self
        }
    }

    fn bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    fn on_one_core(self) -> Self {
        Self {
            one_core: true,
            ..self
        }
    }

    /// Runs it.
    pub(super) fn measure(self) -> Result<Measured, Failure> {
        let program = sibling("contenders")?;
        let mut command = match self.one_core {
            true => {
                let mut pinned = Command::new("taskset");
                pinned.args(["-c", "0"]).arg(program);
                pinned
            }
            false => Command::new(program),
        };
        let (calls, bytes) = (self.calls.to_string(), self.bytes.to_string());
        command.args(["stdio", "call", self.client, "--server", self.server]);
        command.args(["--shape", self.shape, "--calls", &calls, "--bytes", &bytes]);
        measured(command)
    }
}
