//! Each side of a pipe alone, against the least that is possible.

use super::stdio::{Run, contenders, figure};
use crate::{
    Failure,
    figure::{Better, Figure},
    group::{Group, Measured, Scale},
};

/// As in `stdio`, but the other side is the bare baseline.
pub(crate) fn group() -> Group {
    Group {
        name: "sides",
        about: ABOUT,
        figures: FIGURES,
        contenders: contenders(FIGURES, each_side),
        once: false,
    }
}

const ABOUT: &str = "As `stdio`, but each side alone: a client against a server that knows \
    nothing of a call but its id and always returns the same, and a server against a client \
    that has written its calls before. So what the other side costs is the same for all, and \
    as little as can be.";

const FIGURES: &[Figure] = &[
    side(
        "sides.client.rate",
        "client, 64 in flight",
        "calls/s",
        Better::More,
    ),
    side(
        "sides.client.cpu",
        "CPU per call of the client, 64 in flight",
        "µs",
        Better::Less,
    ),
    side(
        "sides.client.p50",
        "client, one by one, median",
        "µs",
        Better::Less,
    ),
    side(
        "sides.server.rate",
        "server, 64 in flight",
        "calls/s",
        Better::More,
    ),
    side(
        "sides.server.cpu",
        "CPU per call of the server, 64 in flight",
        "µs",
        Better::Less,
    ),
    side(
        "sides.server.p50",
        "server, one by one, median",
        "µs",
        Better::Less,
    ),
];

const fn side(id: &'static str, title: &'static str, unit: &'static str, better: Better) -> Figure {
    Figure {
        id,
        title,
        unit,
        better,
        targets: &[],
    }
}

/// The client of that name, and the server of that name.
fn each_side(name: &str, scale: Scale) -> Result<Measured, Failure> {
    let client = Run::of(name, "bare");
    let parallel = client.calls("parallel", scale.of(30_000)).measure()?;
    let sequential = client.calls("sequential", scale.of(4000)).measure()?;
    let mut figures = vec![
        figure("sides.client.rate", &parallel, "rate", 1.0)?,
        figure("sides.client.cpu", &parallel, "cpu.client", 1.0)?,
        figure("sides.client.p50", &sequential, "p50", 1.0)?,
    ];
    let server = Run::of("bare", name);
    let parallel = server.calls("parallel", scale.of(30_000)).measure()?;
    let sequential = server.calls("sequential", scale.of(4000)).measure()?;
    figures.extend([
        figure("sides.server.rate", &parallel, "rate", 1.0)?,
        figure("sides.server.cpu", &parallel, "cpu.server", 1.0)?,
        figure("sides.server.p50", &sequential, "p50", 1.0)?,
    ]);
    Ok(figures)
}
