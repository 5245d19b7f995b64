//! wrk, which loads servers with one and the same request.

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Read as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::ask::Ask;
use crate::{Failure, program::sibling};

const SCRIPT: &str = include_str!("../../../../wrk/post.lua");

/// What a run came to.
#[derive(Debug, Deserialize)]
pub(super) struct Ran {
    pub(super) requests: f64,
    pub(super) microseconds: f64,
    /// Half of the answers came within so many microseconds.
    pub(super) p50: f64,
    /// Answers that were no success.
    refused: u64,
    /// Connections that could not be made or broke, and requests that were not
    /// answered in time.
    broken: u64,
}

/// Loads a server for a while, over so many connections. Requests take turns
/// with the sessions, if there are any. Anything but success is a failure.
pub(super) fn run(
    url: &str,
    ask: &Ask,
    sessions: &[String],
    connections: usize,
    time: Duration,
) -> Result<Ran, Failure> {
    let mut command = Command::new("wrk");
    command
        .args(["--threads", "1", "--connections", &connections.to_string()])
        .args(["--duration", &format!("{}s", time.as_secs() + 1)])
        .args(["--timeout", "5s", "--script"])
        .arg(script()?)
        .args([url, "--", &ask.body, &sessions.join(",")])
        .args(
            ask.headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}")),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        format!("wrk cannot be started ({error}); install it: `apt-get install wrk`")
    })?;
    let said = listen(&mut child, time);
    // It has ended, or ends by itself in a moment.
    child.wait().map_err(|error| error.to_string())?;
    let said = said.map_err(|error| error.to_string())?;
    let line = said.lines().find(|line| line.starts_with('{'));
    let line = line.ok_or_else(|| format!("wrk says nothing of what came out: {said}"))?;
    let ran: Ran = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
    match ran.refused + ran.broken == 0 && ran.requests > 0.0 {
        true => Ok(ran),
        false => Err(format!("wrk was not answered as it should: {ran:?}")),
    }
}

/// Lets wrk work for so long, and hears what it says then.
fn listen(child: &mut Child, time: Duration) -> std::io::Result<String> {
    let output = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
    let mut output = BufReader::new(output);
    let mut said = String::new();
    while output.read_line(&mut said)? > 0 && !said.ends_with("ready\n") {}
    // Should it end before, there is nothing to wait for.
    let until = Instant::now() + time;
    while child.try_wait()?.is_none() && Instant::now() < until {
        let rest = until.saturating_duration_since(Instant::now());
        park_timeout(rest.min(Duration::from_millis(20)));
    }
    interrupt(child);
    output.read_to_string(&mut said)?;
    Ok(said)
}

/// wrk knows whole seconds only, but stops and reports when it is interrupted.
/// Should that fail, it ends a little later by itself.
fn interrupt(child: &Child) {
    let mut kill = Command::new("sh");
    let kill = kill.args(["-c", "kill -INT \"$0\"", &child.id().to_string()]);
    let _ = kill.status();
}

/// The script, next to the program.
fn script() -> Result<PathBuf, Failure> {
    let path = sibling("contenders")?.with_file_name("post.lua");
    let known = fs::read_to_string(&path).is_ok_and(|known| known == SCRIPT);
    if !known {
        fs::write(&path, SCRIPT).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(path)
}
