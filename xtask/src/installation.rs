//! Programs of others, installed below `target/` from the versions that lock files pin.
//!
//! A stamp holds the lock files' text as of the last complete installation, so
//! that nothing is done as long as they stay the same.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::Failure;

/// What is to be installed, and where.
pub struct Installation {
    /// The folder of the lock files.
    pub locks: PathBuf,
    /// The names of the files there that decide what is installed.
    pub files: &'static [&'static str],
    /// The folder that holds what is installed.
    pub home: PathBuf,
    /// What must be there afterwards, below the home: an installation without
    /// one of these is not complete, whatever the stamp says.
    pub parts: &'static [&'static str],
}

impl Installation {
    /// Installs what is missing, by `install`. Says whether there was anything
    /// to do.
    pub fn complete(
        &self,
        install: impl FnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let wanted = self.read_locks()?;
        if self.is_complete(&wanted) {
            return Ok(false);
        }
        remove(&self.home)?;
        make(&self.home)?;
        install(self)?;
        if let Some(missing) = self.first_missing() {
            return Err(format!("the packages were installed without `{missing}`"));
        }
        let stamp = self.stamp();
        fs::write(&stamp, wanted).map_err(|error| at(&stamp, &error))?;
        Ok(true)
    }

    /// Installs the packages of `package-lock.json` into the folder `node`.
    pub fn install_node(&self) -> Result<(), Failure> {
        let home = self.home.join("node");
        make(&home)?;
        for name in ["package.json", "package-lock.json"] {
            let from = self.locks.join(name);
            fs::copy(&from, home.join(name)).map_err(|error| at(&from, &error))?;
        }
        // Nothing that a package brings is run while it is installed.
        let mut npm = Command::new("npm");
        npm.current_dir(home)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .arg("--loglevel=error");
        succeed(npm, "Node.js 20 or newer, with npm, is needed")
    }

    /// The text of all lock files.
    pub fn read_locks(&self) -> Result<String, Failure> {
        let mut text = String::new();
        for name in self.files {
            let path = self.locks.join(name);
            text.push_str(&fs::read_to_string(&path).map_err(|error| at(&path, &error))?);
        }
        Ok(text)
    }

    fn is_complete(&self, wanted: &str) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|stamp| stamp == wanted)
            && self.first_missing().is_none()
    }

    fn first_missing(&self) -> Option<&'static str> {
        let mut parts = self.parts.iter().copied();
        parts.find(|part| !self.home.join(part).exists())
    }

    fn stamp(&self) -> PathBuf {
        self.home.join("stamp")
    }
}

/// Runs a command to its end. `advice` is for those whose machine lacks it.
pub fn succeed(mut command: Command, advice: &str) -> Result<(), Failure> {
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

/// Asserts that a `package.json` names exact versions, and that no lock file
/// says where packages are fetched.
#[cfg(test)]
pub fn assert_pinned(installation: &Installation) {
    let package = fs::read_to_string(installation.locks.join("package.json")).unwrap();
    assert!(!package.contains(['^', '~', '*']), "{package}");
    let text = installation.read_locks().unwrap();
    for word in ["\"resolved\"", "registry", "index-url", ".tgz"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo;

    #[test]
    fn an_installation_needs_the_stamp_and_the_parts() {
        let folder = cargo::root().join("target").join("installation-of-a-test");
        let installation = Installation {
            locks: folder.join("locks"),
            files: &["lock"],
            home: folder.join("home"),
            parts: &["one/program", "two"],
        };
        let lock = installation.locks.join("lock");
        let part = |name| installation.home.join(name);
        let install = |_: &Installation| {
            make(&part("one")).unwrap();
            fs::write(part("one/program"), "").unwrap();
            fs::write(part("two"), "").unwrap();
            Ok(())
        };
        remove(&folder).unwrap();
        make(&installation.locks).unwrap();
        fs::write(&lock, "first").unwrap();

        assert_eq!(
            installation.complete(install),
            Ok(true),
            "nothing was there"
        );
        assert_eq!(installation.complete(install), Ok(false));
        fs::write(&lock, "second").unwrap();
        assert_eq!(installation.complete(install), Ok(true), "another lock");
        fs::remove_file(part("two")).unwrap();
        assert_eq!(installation.complete(install), Ok(true), "a part was gone");
        fs::write(&lock, "third").unwrap();
        let failure = installation.complete(|_| Ok(())).unwrap_err();
        assert!(failure.contains("one/program"), "{failure}");
        remove(&folder).unwrap();
    }
}
