//! Real processes that misbehave.

#[cfg(target_os = "linux")]
mod ends;
mod faults;
#[cfg(feature = "tracing")]
mod logged;
#[cfg(target_os = "linux")]
mod never_reads;
pub(crate) mod relay;
#[cfg(unix)]
mod stopping;

use std::{fs, path::PathBuf, process::Command, time::Duration};

use bowline::transport::ChildProcess;
use tokio::time::timeout;

/// How long any one step may take. What hangs fails after this; nothing else
/// depends on it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The server that misbehaves as its first argument says.
pub(crate) fn faulty(mode: &str) -> ChildProcess {
    ChildProcess::new(faulty_path()).arg(mode)
}

pub(crate) fn faulty_path() -> PathBuf {
    example("faulty_server")
}

/// `cargo test` builds examples beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.parent().and_then(|deps| deps.parent());
    let folder = folder.expect("tests are two folders deep");
    let path = folder.join("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing; `cargo test -p bowline --all-features` builds it",
        path.display()
    );
    path
}

/// Waits for an outcome, but not for ever.
pub(crate) async fn within<O>(what: &str, step: impl Future<Output = O>) -> O {
    match timeout(PATIENCE, step).await {
        Ok(output) => output,
        Err(_) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}

/// Sends a signal to one process.
fn kill(pid: u32, signal: &str) {
    let script = format!("kill -s {signal} {pid}");
    // It may be gone already.
    let _ = Command::new("sh").args(["-c", &script]).output();
}

/// Waits until these processes have ended.
async fn gone(pids: &[u32]) {
    let end = async {
        while !pids.iter().all(|pid| is_gone(*pid)) {
            tokio::task::yield_now().await;
        }
    };
    within("the end of a process", end).await;
}

/// Whether a process has ended. One that nobody has collected yet has ended,
/// too: orphans are collected by whoever adopts them, if ever.
fn is_gone(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return true;
    };
    // The name, in parentheses, may contain anything.
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim().chars().next());
    matches!(state, Some('Z' | 'X'))
}
