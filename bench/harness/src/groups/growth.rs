//! Whether one of many costs more than one of few.

use std::{cell::OnceCell, process::Command};

use crate::{
    Failure,
    figure::{Better, Figure, Who},
    group::{Contender, Group, Measured, Scale},
    plot::{Line, Plot},
    program::{contender, measured, sibling},
};

/// More and more tools, calls in flight and connections.
pub(crate) fn group() -> Group {
    Group {
        name: "growth",
        about: "What one costs among more and more: a call to one of so many tools, and one tool \
                of the list; a call while so many others wait, on one client; a call to one of so \
                many connections of a registry. Each program runs on one thread together with \
                what is at its other end, and the CPU time is that of both: what counts is how \
                one number of things compares with another. Bytes are what the allocator was \
                asked for. rmcp is measured where it has the same thing.",
        figures: FIGURES,
        contenders: vec![
            Contender {
                who: Who::Ours,
                measure: ours(),
            },
            Contender {
                who: Who::RmcpTuned,
                measure: Box::new(rmcp),
            },
        ],
        once: false,
    }
}

/// How many there are of each.
const TOOLS: &[u32] = &[10, 100, 1_000, 10_000];
const CALLS: &[u32] = &[1, 10, 100, 1_000, 10_000];
const CONNECTIONS: &[u32] = &[1, 10, 100, 1_000];

/// One figure for each count of a series.
macro_rules! figures {
    ($($what:literal, $kind:literal, $unit:literal, $title:literal, [$($count:literal)*];)*) => {
        &[$($(Figure {
            id: concat!("growth.", $what, ".", $count, ".", $kind),
            title: concat!($title, ", ", $count),
            unit: $unit,
            better: Better::Less,
            targets: &[],
        },)*)*]
    };
}

const FIGURES: &[Figure] = figures! {
    "tools", "call", "µs", "CPU per call, by tools", [10 100 1000 10000];
    "tools", "list", "µs", "CPU per tool listed, by tools", [10 100 1000 10000];
    "tools", "memory", "bytes", "memory per tool, by tools", [10 100 1000 10000];
    "calls", "call", "µs", "CPU per call, by calls in flight", [1 10 100 1000 10000];
    "calls", "memory", "bytes", "memory per call, by calls in flight", [1 10 100 1000 10000];
    "connections", "call", "µs", "CPU per call, by connections", [1 10 100 1000];
    "connections", "memory", "bytes", "memory per connection, by connections", [1 10 100 1000];
};

/// What is drawn: a series of figures, and what a reader sees.
struct Series {
    what: &'static str,
    kind: &'static str,
    counts: &'static [u32],
    title: &'static str,
    unit: &'static str,
    across: &'static str,
}

const SERIES: &[Series] = &[
    Series {
        what: "tools",
        kind: "call",
        counts: TOOLS,
        title: "A call",
        unit: "µs of CPU",
        across: "tools",
    },
    Series {
        what: "tools",
        kind: "list",
        counts: TOOLS,
        title: "A tool in the list",
        unit: "µs of CPU",
        across: "tools",
    },
    Series {
        what: "tools",
        kind: "memory",
        counts: TOOLS,
        title: "A tool",
        unit: "bytes",
        across: "tools",
    },
    Series {
        what: "calls",
        kind: "call",
        counts: CALLS,
        title: "A call",
        unit: "µs of CPU",
        across: "calls in flight",
    },
    Series {
        what: "calls",
        kind: "memory",
        counts: CALLS,
        title: "A call in flight",
        unit: "bytes",
        across: "calls in flight",
    },
    Series {
        what: "connections",
        kind: "call",
        counts: CONNECTIONS,
        title: "A call",
        unit: "µs of CPU",
        across: "connections",
    },
    Series {
        what: "connections",
        kind: "memory",
        counts: CONNECTIONS,
        title: "A connection",
        unit: "bytes",
        across: "connections",
    },
];

/// What to draw of the results, where `value` knows the medians.
pub(crate) fn plots(value: impl Fn(Who, &str) -> Option<f64>) -> Vec<Plot> {
    let line = |series: &Series, who: Who, name: &'static str| {
        let points = series.counts.iter().filter_map(|count| {
            let id = format!("growth.{}.{count}.{}", series.what, series.kind);
            Some((f64::from(*count), value(who, &id)?))
        });
        let points: Vec<(f64, f64)> = points.collect();
        (!points.is_empty()).then_some(Line { name, points })
    };
    let plots = SERIES.iter().map(|series| Plot {
        title: series.title,
        unit: series.unit,
        across: series.across,
        lines: [(Who::Ours, "ours"), (Who::RmcpTuned, "rmcp")]
            .into_iter()
            .filter_map(|(who, name)| line(series, who, name))
            .collect(),
    });
    plots.filter(|plot| !plot.lines.is_empty()).collect()
}

const ALL: [(&str, &[u32]); 3] = [
    ("tools", TOOLS),
    ("calls", CALLS),
    ("connections", CONNECTIONS),
];

fn ours() -> Box<dyn Fn(Scale) -> Result<Measured, Failure>> {
    // What is counted is the same in every round.
    let counted: OnceCell<Measured> = OnceCell::new();
    Box::new(move |scale| {
        let memory = match counted.get() {
            Some(memory) => memory.clone(),
            None => memory()?,
        };
        let mut figures = counted.get_or_init(|| memory).clone();
        for (what, counts) in ALL {
            for count in counts {
                let command = growth(what, "ours", &count.to_string(), scale)?;
                figures.extend(measured(command)?);
            }
        }
        Ok(figures)
    })
}

/// What one of so many holds.
fn memory() -> Result<Measured, Failure> {
    let mut figures = Measured::new();
    for (what, counts) in ALL {
        for count in counts {
            let mut heap = Command::new(sibling("heap")?);
            heap.args([what, &count.to_string()]);
            figures.extend(measured(heap)?);
        }
    }
    Ok(figures)
}

fn rmcp(scale: Scale) -> Result<Measured, Failure> {
    let mut figures = Measured::new();
    for (what, who, counts) in [("tools", "rmcp-tuned", TOOLS), ("calls", "rmcp", CALLS)] {
        for count in counts {
            let command = growth(what, who, &count.to_string(), scale)?;
            figures.extend(measured(command)?);
        }
    }
    Ok(figures)
}

/// How many calls are made for one figure.
const TIMES: usize = 40_000;

fn growth(what: &str, who: &str, count: &str, scale: Scale) -> Result<Command, Failure> {
    let times = scale.of(TIMES).to_string();
    contender(&["growth", what, who, count, "--times", &times])
}

#[cfg(test)]
mod tests {
    use super::{FIGURES, plots};
    use crate::figure::Who;

    #[test]
    fn every_figure_is_drawn() {
        let drawn = std::cell::RefCell::new(Vec::new());
        let plots = plots(|who, id| {
            if who == Who::Ours {
                drawn.borrow_mut().push(id.to_owned());
                return Some(1.0);
            }
            None
        });
        let ids: Vec<String> = FIGURES.iter().map(|figure| figure.id.to_owned()).collect();
        assert_eq!(drawn.into_inner(), ids);
        assert_eq!(plots.len(), 7);
        assert!(plots.iter().all(|plot| plot.lines.len() == 1));
    }

    #[test]
    fn what_was_not_measured_is_not_drawn() {
        assert!(plots(|_, _| None).is_empty());
        let plots = plots(|_, id| (id == "growth.calls.100.call").then_some(2.5));
        assert_eq!(plots.len(), 1);
        assert_eq!(plots[0].lines[0].points, [(100.0, 2.5)]);
    }
}
