//! `cargo xtask peers`: the servers and clients of others that the tests talk to.
//!
//! They are installed below `target/peers`, from the versions that the lock
//! files in `peers/` pin. A stamp holds the lock files' text as of the last
//! complete installation, so that nothing is done as long as they stay the
//! same.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Failure, cargo, no_arguments};

/// What decides what is installed, below `peers/`.
const LOCKS: &[&str] = &["package.json", "package-lock.json", "requirements.txt"];
/// What the tests start, below `target/peers`: an installation without one of
/// these is not complete, whatever the stamp says.
const PEERS: &[&str] = &[
    "node/node_modules/.bin/mcp-server-everything",
    "node/node_modules/.bin/mcp-server-filesystem",
    "node/node_modules/.bin/mcp-server-memory",
    "node/node_modules/.bin/mcp-server-sequential-thinking",
    "node/node_modules/@modelcontextprotocol/client/package.json",
    "node/node_modules/@modelcontextprotocol/sdk/package.json",
    "python/bin/mcp-server-fetch",
    "python/bin/mcp-server-git",
    "python/bin/mcp-server-time",
    "python/bin/python",
];

/// Installs what is missing.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let locks = cargo::root().join("peers");
    let home = cargo::root().join("target").join("peers");
    let wanted = read_locks(&locks)?;
    if is_complete(&home, &wanted) {
        eprintln!("peers: installed already");
        return Ok(());
    }
    remove(&home)?;
    make(&home)?;
    install_node(&locks, &home.join("node"))?;
    install_python(&locks, &home.join("python"))?;
    if let Some(missing) = first_missing(&home) {
        return Err(format!("the packages were installed without `{missing}`"));
    }
    fs::write(stamp(&home), wanted).map_err(|error| at(&stamp(&home), &error))?;
    eprintln!("peers: installed");
    Ok(())
}

fn install_node(locks: &Path, home: &Path) -> Result<(), Failure> {
    make(home)?;
    for name in ["package.json", "package-lock.json"] {
        let from = locks.join(name);
        fs::copy(&from, home.join(name)).map_err(|error| at(&from, &error))?;
    }
    // Nothing that a package brings is run while it is installed.
    let mut npm = Command::new("npm");
    npm.current_dir(home)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .arg("--loglevel=error");
    succeed(npm, "Node.js 20 or newer, with npm, is needed")
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

/// Runs a command to its end. `advice` is for those whose machine lacks it.
fn succeed(mut command: Command, advice: &str) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("`{name}` did not start: {error} ({advice})"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{name}` failed: {status} ({advice})"))
    }
}

fn read_locks(locks: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    for name in LOCKS {
        let path = locks.join(name);
        text.push_str(&fs::read_to_string(&path).map_err(|error| at(&path, &error))?);
    }
    Ok(text)
}

fn is_complete(home: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp(home)).is_ok_and(|stamp| stamp == wanted)
        && first_missing(home).is_none()
}

fn first_missing(home: &Path) -> Option<&'static str> {
    PEERS.iter().copied().find(|peer| !home.join(peer).exists())
}

fn stamp(home: &Path) -> PathBuf {
    home.join("stamp")
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| at(folder, &error))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(folder, &error)),
        _ => Ok(()),
    }
}

fn at(path: &Path, error: &io::Error) -> Failure {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_pinned() {
        let locks = cargo::root().join("peers");
        let requirements = fs::read_to_string(locks.join("requirements.txt")).unwrap();
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
        let package = fs::read_to_string(locks.join("package.json")).unwrap();
        assert!(!package.contains(['^', '~', '*']), "{package}");
    }

    #[test]
    fn no_lock_says_where_packages_are_fetched() {
        let text = read_locks(&cargo::root().join("peers")).unwrap();
        for word in ["\"resolved\"", "registry", "index-url", ".tgz"] {
            assert!(!text.contains(word), "{word}");
        }
    }

    #[test]
    fn an_installation_needs_the_stamp_and_the_peers() {
        let home = cargo::root().join("target").join("peers-of-a-test");
        remove(&home).unwrap();
        for peer in PEERS {
            let peer = home.join(peer);
            make(peer.parent().unwrap()).unwrap();
            fs::write(&peer, "").unwrap();
        }
        assert!(!is_complete(&home, "locks"), "no stamp");
        fs::write(stamp(&home), "locks").unwrap();
        assert!(is_complete(&home, "locks"));
        assert!(!is_complete(&home, "other locks"));
        fs::remove_file(home.join(PEERS[0])).unwrap();
        assert_eq!(first_missing(&home), Some(PEERS[0]));
        assert!(!is_complete(&home, "locks"), "no peer");
        remove(&home).unwrap();
    }
}
