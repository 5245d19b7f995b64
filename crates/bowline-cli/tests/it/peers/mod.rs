//! The command against real servers that nobody here wrote, in both eras.
//!
//! `cargo xtask peers` installs them; a test whose peer is missing fails.

mod everything;
mod folders;
mod python;
mod served;
mod small;
mod together;

use std::path::{Path, PathBuf};

use crate::rig::{Ran, Rig};

/// Something that was installed, by its path below `target/peers`.
pub(crate) fn installed(path: &str) -> String {
    let path = top().join("target").join("peers").join(path);
    assert!(
        path.exists(),
        "the peer {} is missing: run cargo xtask peers",
        path.display(),
    );
    text(&path)
}

/// The repository.
pub(crate) fn top() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    top.canonicalize().expect("it is there")
}

fn text(path: &Path) -> String {
    path.to_str().expect("the path is text").to_owned()
}

/// A server from npm.
pub(crate) fn node(name: &str) -> String {
    installed(&format!("node/node_modules/.bin/{name}"))
}

/// A server from PyPI.
fn python(name: &str) -> String {
    installed(&format!("python/bin/{name}"))
}

/// A server of ours on the Python SDK.
fn script(name: &str) -> [String; 2] {
    [python("python"), text(&top().join("peers").join(name))]
}

/// Runs the command with patience for a machine that has much else to do. The
/// server is a URL in the arguments, or this command.
fn run(rig: &Rig, args: &[&str], server: &[String]) -> Ran {
    let mut all = vec!["--timeout", "60"];
    all.extend(args);
    if !server.is_empty() {
        all.push("--");
    }
    all.extend(server.iter().map(String::as_str));
    rig.run(&all)
}

/// Runs it, and expects that it went well and said nothing besides. Gives the
/// result.
#[track_caller]
fn told(rig: &Rig, args: &[&str], server: &[String]) -> String {
    let ran = run(rig, args, server);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    assert_eq!(ran.stderr, "", "{args:?}");
    ran.text().to_owned()
}

/// Runs it with `--json`, and expects that it went well.
#[track_caller]
fn value(rig: &Rig, args: &[&str], server: &[String]) -> serde_json::Value {
    let mut all = args.to_vec();
    all.push("--json");
    let ran = run(rig, &all, server);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.json()
}
