//! `cargo xtask peers`: the servers and clients of others that the tests talk to.
//!
//! They are installed below `target/peers`, from the versions that the lock
//! files in `peers/` pin.

use std::{path::Path, process::Command};

use crate::{
    Failure, cargo,
    installation::{Installation, succeed},
    no_arguments,
};

/// What decides what is installed, below `peers/`.
const LOCKS: &[&str] = &["package.json", "package-lock.json", "requirements.txt"];
/// What the tests start, below `target/peers`.
const PEERS: &[&str] = &[
    "node/node_modules/.bin/mcp-server-everything",
    "node/node_modules/.bin/mcp-server-filesystem",
    "node/node_modules/.bin/mcp-server-memory",
    "node/node_modules/.bin/mcp-server-sequential-thinking",
    "node/node_modules/@modelcontextprotocol/client/package.json",
    "node/node_modules/@modelcontextprotocol/server/package.json",
    "node/node_modules/@modelcontextprotocol/node/package.json",
    "node/node_modules/@modelcontextprotocol/sdk/package.json",
    "python/bin/mcp-server-fetch",
    "python/bin/mcp-server-git",
    "python/bin/mcp-server-time",
    "python/bin/python",
];

/// Installs what is missing.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let installed = peers().complete(|peers| {
        peers.install_node()?;
        install_python(&peers.locks, &peers.home.join("python"))
    })?;
    eprintln!(
        "peers: installed{}",
        if installed { "" } else { " already" }
    );
    Ok(())
}

fn peers() -> Installation {
    Installation {
        locks: cargo::root().join("peers"),
        files: LOCKS,
        home: cargo::root().join("target").join("peers"),
        parts: PEERS,
    }
}

fn install_python(locks: &Path, home: &Path) -> Result<(), Failure> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(home);
    succeed(venv, "Python 3.11 or newer, with venv, is needed")?;
    // The list is complete: what it lacks is found by the check below, rather
    // than fetched in whatever version is the newest today.
    let mut install = pip(home);
    install
        .args(["install", "--quiet", "--no-deps", "--only-binary", ":all:"])
        .arg("--requirement")
        .arg(locks.join("requirements.txt"));
    succeed(install, "pip is needed")?;
    let mut check = pip(home);
    check.arg("check");
    succeed(check, "peers/requirements.txt must name every dependency")
}

fn pip(home: &Path) -> Command {
    let mut pip = Command::new(home.join("bin").join("python"));
    pip.args(["-m", "pip", "--disable-pip-version-check", "--no-input"]);
    pip
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::installation::assert_pinned;

    #[test]
    fn every_version_is_pinned() {
        let peers = peers();
        assert_pinned(&peers);
        let requirements = fs::read_to_string(peers.locks.join("requirements.txt")).unwrap();
        let mut count = 0;
        for line in requirements.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            assert_eq!(line.matches("==").count(), 1, "{line}");
            assert!(!line.contains([':', '*', '>', '<', '~']), "{line}");
            count += 1;
        }
        assert!(count > 4, "{requirements}");
    }
}
