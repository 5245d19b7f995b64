//! Instructions and allocations of a call, counted for everybody alike.

use std::process::Command;

use super::http_server::Served;
use crate::{
    Failure,
    callgrind::{self, Found},
    figure::{Better, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
    program,
};

/// Counts what one call costs, on each side.
pub(crate) fn group() -> Group {
    Group {
        name: "instructions",
        about: "What a call costs each side, counted by valgrind's callgrind as the difference \
                between N and 2 N calls of an echo of 100 bytes, one after the other: repeatable, \
                where time is not. The other side is always the bare baseline. An allocation is a \
                call of `malloc` or one of its kin. The runtime is what each contender has \
                otherwise, which for ours has as many threads as there are cores.",
        figures: FIGURES,
        contenders: Who::ALL.map(contender).into(),
        once: true,
    }
}

const fn counted(id: &'static str, title: &'static str, targets: &'static [Target]) -> Figure {
    Figure {
        id,
        title,
        unit: "instructions",
        better: Better::Less,
        targets,
    }
}

const fn allocated(id: &'static str, title: &'static str, targets: &'static [Target]) -> Figure {
    Figure {
        id,
        title,
        unit: "allocations",
        better: Better::Less,
        targets,
    }
}

const FIGURES: &[Figure] = &[
    counted(
        "instructions.stdio.server",
        "a call over stdio, server",
        &[Target::AtMost(15_000.0)],
    ),
    counted(
        "instructions.stdio.client",
        "a call over stdio, client",
        &[Target::AtMost(15_000.0)],
    ),
    allocated(
        "allocations.stdio.server",
        "a call over stdio, server",
        &[Target::AtMost(12.0)],
    ),
    allocated(
        "allocations.stdio.client",
        "a call over stdio, client",
        &[Target::AtMost(12.0)],
    ),
    counted(
        "instructions.stateless.server",
        "a call over stdio in revision 2026-07-28, server",
        &[Target::AtMost(15_000.0)],
    ),
    allocated(
        "allocations.stateless.server",
        "a call over stdio in revision 2026-07-28, server",
        &[Target::AtMost(12.0)],
    ),
    counted(
        "instructions.http.server",
        "a request over HTTP, 2026-07-28, JSON, server",
        &[Target::AtMost(40_000.0)],
    ),
    allocated(
        "allocations.http.server",
        "a request over HTTP, 2026-07-28, JSON, server",
        &[],
    ),
    counted("instructions.http.client", "a call over HTTP, client", &[]),
    allocated("allocations.http.client", "a call over HTTP, client", &[]),
    counted(
        "instructions.list.decode",
        "a list of 1,000 tools, client",
        &[Target::AtMost(20e6)],
    ),
    allocated(
        "allocations.list.decode",
        "a list of 1,000 tools, client",
        &[Target::AtMost(4100.0)],
    ),
];

fn contender(who: Who) -> Contender {
    Contender {
        who,
        measure: Box::new(move |scale| count(who, scale)),
    }
}

/// What a program calls it.
fn name(who: Who) -> &'static str {
    match who {
        Who::Ours => "ours",
        Who::Rmcp => "rmcp",
        Who::RmcpTuned => "rmcp-tuned",
        Who::Limit | Who::Jsonschema => "limit",
        Who::Bare => "bare",
    }
}

/// How many calls there are at least.
const CALLS: usize = 2000;
const LISTS: usize = 10;

fn count(who: Who, scale: Scale) -> Result<Measured, Failure> {
    callgrind::present()?;
    let name = name(who);
    let (calls, lists) = (scale.of(CALLS), scale.of(LISTS));
    let mut measured = Measured::new();
    let mut put = |what: &str, (instructions, allocations): (f64, f64)| {
        measured.push((format!("instructions.{what}"), instructions));
        measured.push((format!("allocations.{what}"), allocations));
    };
    put("stdio.server", stdio_server(name, "2025-11-25", calls)?);
    put(
        "stdio.client",
        client(&stdio(name, "bare"), "--calls", calls)?,
    );
    if who == Who::Ours {
        put("stateless.server", stdio_server(name, "2026-07-28", calls)?);
    }
    // As its documentation shows it, rmcp does not answer with JSON.
    if !matches!(who, Who::Bare | Who::Rmcp) {
        put(
            "http.server",
            callgrind::each(calls, |found, calls| http_server(found, name, calls))?,
        );
    }
    if who != Who::Bare {
        put(
            "http.client",
            callgrind::each(calls, |found, calls| http_client(found, name, calls))?,
        );
        put(
            "list.decode",
            client(&["list", "decode", name], "--times", lists)?,
        );
    }
    Ok(measured)
}

fn stdio<'a>(client: &'a str, server: &'a str) -> [&'a str; 8] {
    let how = ["--shape", "sequential", "--no-warmup"];
    [
        "stdio", "call", client, "--server", server, how[0], how[1], how[2],
    ]
}

/// The server alone is counted.
fn stdio_server(name: &str, revision: &str, calls: usize) -> Result<(f64, f64), Failure> {
    callgrind::each(calls, |found, calls| {
        let mut command = program::contender(&stdio("bare", name))?;
        command.args(["--revision", revision, "--calls", &calls.to_string()]);
        command.env("BENCH_SERVER_PREFIX", found.prefix().join(" "));
        program::measured(command).map(drop)
    })
}

/// A program that does something so often is counted.
fn client(arguments: &[&str], times: &str, calls: usize) -> Result<(f64, f64), Failure> {
    callgrind::each(calls, |found, calls| {
        let mut command = program::contender(arguments)?;
        command.args([times, &calls.to_string()]);
        callgrind::run(found, &command)
    })
}

fn http_server(found: &Found, name: &str, calls: usize) -> Result<(), Failure> {
    let [valgrind, options @ ..] = found.prefix();
    let mut command = Command::new(valgrind);
    let contenders = program::sibling("contenders")?;
    command
        .args(options)
        .arg(contenders)
        .args(["http", "serve", name]);
    let server = Served::run(command)?;
    program::measured(call("limit", &server.url(), calls)?)?;
    server.end()
}

fn http_client(found: &Found, name: &str, calls: usize) -> Result<(), Failure> {
    let server = Served::start(Who::Limit)?;
    callgrind::run(found, &call(name, &server.url(), calls)?)
}

fn call(name: &str, url: &str, calls: usize) -> Result<Command, Failure> {
    let mut command = program::contender(&["http", "call", name, "--url", url])?;
    command.args(["--width", "1", "--no-warmup", "--calls", &calls.to_string()]);
    Ok(command)
}
