//! Calls over HTTP, against bare hyper.

use super::http_server::{Served, name};
use crate::{
    Failure,
    figure::{
        Better::{Less, More},
        Figure, Target, Who,
    },
    group::{Contender, Group, Measured, Scale},
    program::{contender, measured},
};

/// Calls per second, latency, processor time and memory of clients.
pub(crate) fn group() -> Group {
    let contender = |who| Contender {
        who,
        measure: Box::new(move |scale| measure(who, scale)),
    };
    Group {
        name: "http-client",
        about: "Calls of a tool that echoes 100 bytes, one after the other and 64 at once, \
                against a server of bare hyper. The baseline is a client of bare hyper with a \
                connection for each call under way, which writes and reads typed JSON. Both that \
                and ours speak 2026-07-28; rmcp shakes hands and speaks 2025-11-25, as is its \
                default, and cheaper for it. rmcp as shown opens a connection for each call, and \
                makes 16 at once; tuned it keeps its connections, makes 64 at once, and runs on \
                one thread where that is faster. CPU and memory are the client's.",
        figures: FIGURES,
        contenders: [Who::Ours, Who::Rmcp, Who::RmcpTuned, Who::Limit]
            .map(contender)
            .into(),
        once: false,
    }
}

/// The figures of so many calls at once.
macro_rules! figures {
    ($($width:literal, $title:literal, $targets:expr;)*) => {
        &[$(
            Figure {
                id: concat!("http-client.", $width, ".rate"),
                title: $title,
                unit: "calls/s",
                better: More,
                targets: $targets,
            },
            Figure {
                id: concat!("http-client.", $width, ".p50"),
                title: concat!($title, ": median latency"),
                unit: "µs",
                better: Less,
                targets: &[],
            },
            Figure {
                id: concat!("http-client.", $width, ".cpu"),
                title: concat!($title, ": CPU per call"),
                unit: "µs",
                better: Less,
                targets: &[],
            },
            Figure {
                id: concat!("http-client.", $width, ".peak"),
                title: concat!($title, ": peak memory"),
                unit: "bytes",
                better: Less,
                targets: &[],
            },
        )*]
    };
}

const FIGURES: &[Figure] = figures![
    "1", "One at a time", &[];
    "64", "64 at once", &[Target::OfLimit(0.5)];
];

fn measure(who: Who, scale: Scale) -> Result<Measured, Failure> {
    let mut all = Vec::new();
    for (width, calls) in [(1, scale.of(3_000)), (64, scale.of(15_000))] {
        let served = Served::start(Who::Limit)?;
        let mut command = contender(&["http", "call", name(who)])?;
        command
            .args(["--url", &served.url()])
            .args(["--calls", &calls.to_string()])
            .args(["--width", &width.to_string()]);
        // What the machine has for the world outside is of no use here.
        for proxy in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(proxy);
        }
        let figures = measured(command)?;
        let names = [
            ("rate", "rate"),
            ("p50_us", "p50"),
            ("cpu_us", "cpu"),
            ("peak_bytes", "peak"),
        ];
        for (said, known) in names {
            let value = figures.iter().find(|(name, _)| name == said);
            let (_, value) = value.ok_or_else(|| format!("{} does not say {said}", name(who)))?;
            all.push((format!("http-client.{width}.{known}"), *value));
        }
    }
    Ok(all)
}
