//! What a user pays at build time.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::{
    Failure,
    figure::{Better, Figure, Target, Who},
    group::{Contender, Group, Measured, Scale},
};

/// Builds from nothing.
pub(crate) fn group() -> Group {
    Group {
        name: "build",
        about: "A release build from nothing, with thin LTO and one codegen unit, of the smallest \
                programs that the documentation of each shows: a server over stdio, and a server \
                and client over stdio and HTTP. All crates are downloaded before; nothing is \
                cached. The baseline is serde_json, tokio and, for HTTP, hyper; it has no TLS, which \
                the other two have. Sizes are of the stripped program. Built once each.",
        figures: FIGURES,
        contenders: vec![
            building(Who::Ours, "ours"),
            building(Who::Rmcp, "rmcp"),
            building(Who::Limit, "limit"),
        ],
        once: true,
    }
}

/// The four figures of one program.
macro_rules! figures {
    ($($what:literal, $title:literal, $seconds:literal, $size:literal;)*) => {
        &[$(
            Figure {
                id: concat!("build.", $what, ".time"),
                title: concat!("build ", $title),
                unit: "s",
                better: Better::Less,
                targets: &[Target::AtMost($seconds)],
            },
            Figure {
                id: concat!("build.", $what, ".cpu"),
                title: concat!("build ", $title, ", CPU"),
                unit: "s",
                better: Better::Less,
                targets: &[],
            },
            Figure {
                id: concat!("build.", $what, ".crates"),
                title: concat!("crates in ", $title),
                unit: "crates",
                better: Better::Less,
                targets: &[],
            },
            Figure {
                id: concat!("build.", $what, ".size"),
                title: concat!("size of ", $title),
                unit: "MB",
                better: Better::Less,
                targets: &[Target::AtMost($size)],
            },
        )*]
    };
}

const FIGURES: &[Figure] = figures! {
    "stdio", "a minimal stdio server", 45.0, 1.2;
    "full", "client, server and HTTP", 150.0, 5.0;
};

fn building(who: Who, name: &'static str) -> Contender {
    Contender {
        who,
        measure: Box::new(move |scale| {
            let mut figures = built(name, "stdio")?;
            if scale == Scale::Full {
                figures.extend(built(name, "full")?);
            }
            Ok(figures)
        }),
    }
}

/// Builds one program, sees that it works, and takes everything away again.
fn built(name: &str, what: &str) -> Result<Measured, Failure> {
    let package = format!("{name}-{what}");
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = bench.join("build").join(&package).join("Cargo.toml");
    let target = bench.join("target").join("build-cost").join(&package);
    remove(&target)?;
    fetch(&manifest)?;
    let timed = timed_build(&manifest, &target)?;
    let program = target.join("release").join(&package);
    let size = fs::metadata(&program).map_err(|error| format!("{package}: {error}"))?;
    let echoed = echoes(&program, what);
    remove(&target)?;
    echoed?;
    let figures = [
        ("time", timed.seconds),
        ("cpu", timed.cpu),
        ("crates", timed.crates as f64),
        ("size", size.len() as f64 / 1e6),
    ];
    let figures = figures.into_iter();
    Ok(figures
        .map(|(figure, value)| (format!("build.{what}.{figure}"), value))
        .collect())
}

fn remove(target: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", target.display()))
        }
        _ => Ok(()),
    }
}

fn fetch(manifest: &Path) -> Result<(), Failure> {
    let mut fetch = Command::new(cargo());
    fetch
        .args(["fetch", "--locked", "--manifest-path"])
        .arg(manifest);
    let output = fetch.output();
    let output = output.map_err(|error| format!("{fetch:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        // Where the product has other dependencies than before, the lock file
        // beside the manifest must follow.
        false => Err(format!(
            "{fetch:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// The cargo that built this.
fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// What a build took.
#[derive(Debug, PartialEq)]
struct Timed {
    seconds: f64,
    /// Of all processes that took part.
    cpu: f64,
    crates: usize,
}

fn timed_build(manifest: &Path, target: &Path) -> Result<Timed, Failure> {
    // A shell knows what its children took; the standard library does not.
    let mut build = Command::new("bash");
    build
        .args(["-c", "TIMEFORMAT='cpu %U %S'; time \"$@\"", "bash"])
        .arg(cargo())
        .args(["build", "--release", "--locked", "--offline"])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .env("LC_ALL", "C")
        .env("CARGO_TERM_COLOR", "never")
        // Nobody's cache, and nobody's settings.
        .env("RUSTC_WRAPPER", "")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PROFILE_") || text.starts_with("CARGO_BUILD_") {
            build.env_remove(&name);
        }
    }
    let start = Instant::now();
    let output = build
        .output()
        .map_err(|error| format!("{build:?}: {error}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => read(&said, seconds).ok_or(format!("what bash says is not known: {said}")),
        false => Err(format!("{build:?}: {}\n{said}", output.status)),
    }
}

/// What cargo and the shell said.
fn read(said: &str, seconds: f64) -> Option<Timed> {
    let crates = said
        .lines()
        .filter(|line| line.trim_start().starts_with("Compiling "))
        .count();
    let cpu = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("cpu "))?;
    let cpu = cpu.split_whitespace().map(str::parse::<f64>);
    let cpu = cpu.collect::<Result<Vec<_>, _>>().ok()?;
    Some(Timed {
        seconds,
        cpu: cpu.into_iter().sum(),
        crates,
    })
}

const REQUESTS: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"it works"}}}"#,
];

/// Sees that a program does what it is there for.
fn echoes(program: &Path, what: &str) -> Result<(), Failure> {
    let said = match what {
        "stdio" => asked(program).map_err(|error| error.to_string())?,
        _ => {
            // It is its own client.
            let output = Command::new(program).arg("call").arg(program).output();
            let output = output.map_err(|error| error.to_string())?;
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
    };
    let wanted = if what == "stdio" { "it works" } else { "hi" };
    match said.contains(wanted) {
        true => Ok(()),
        false => Err(format!("{} does not work: {said:?}", program.display())),
    }
}

/// What a server says to a call.
fn asked(program: &Path) -> std::io::Result<String> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    if let (Some(input), Some(output)) = (&mut child.stdin, child.stdout.take()) {
        let mut lines = BufReader::new(output).lines();
        for request in REQUESTS {
            writeln!(input, "{request}")?;
            if request.contains("\"id\"") {
                said = lines.next().transpose()?.unwrap_or_default();
            }
        }
    }
    drop(child.stdin.take());
    child.wait()?;
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::{Timed, read};

    #[test]
    fn what_cargo_and_bash_say_is_read() {
        let said = "   Compiling serde v1.0.0\n   Compiling echo v0.0.0 (/somewhere)\n    \
                    Finished `release` profile [optimized] target(s) in 3.00s\ncpu 4.500 0.250\n";
        let timed = Timed {
            seconds: 3.0,
            cpu: 4.75,
            crates: 2,
        };
        assert_eq!(read(said, 3.0), Some(timed));
        assert_eq!(read("   Compiling serde v1.0.0\n", 3.0), None);
    }
}
