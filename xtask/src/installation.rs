//! Third-party programs, installed in `target/` in the versions that lock files pin.
//!
//! A stamp file holds the contents of the lock files at the last complete
//! installation. Nothing is installed while they stay the same.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Failure, failure::at_path, process};

/// The packages to install, and where.
pub struct Installation {
    /// The folder of the lock files.
    pub lock_folder: PathBuf,
    /// The names of the files there that pin the versions.
    pub lock_files: &'static [&'static str],
    /// The folder to install to.
    pub folder: PathBuf,
    /// Files that must exist in that folder afterwards. Without one of these, an
    /// installation is incomplete even if the stamp is current.
    pub required_files: &'static [&'static str],
}

impl Installation {
    /// Calls `install` unless the installation is complete and current. Returns
    /// whether it was called.
    pub fn ensure(
        &self,
        install: impl FnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let wanted = self.read_locks()?;
        if self.is_complete(&wanted) {
            return Ok(false);
        }
        remove_folder(&self.folder)?;
        create_folder(&self.folder)?;
        install(self)?;
        if let Some(missing) = self.first_missing() {
            return Err(format!(
                "the packages were installed, but `{missing}` is missing"
            ));
        }
        let stamp = self.stamp();
        fs::write(&stamp, wanted).map_err(|error| at_path(&stamp, &error))?;
        Ok(true)
    }

    /// Installs the packages of `package-lock.json` into the folder `node`.
    pub fn install_node(&self) -> Result<(), Failure> {
        let folder = self.folder.join("node");
        create_folder(&folder)?;
        for name in ["package.json", "package-lock.json"] {
            let from = self.lock_folder.join(name);
            fs::copy(&from, folder.join(name)).map_err(|error| at_path(&from, &error))?;
        }
        // Install scripts of packages are not run.
        let mut npm = Command::new("npm");
        npm.current_dir(folder)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .arg("--loglevel=error");
        process::run(npm, "Node.js 20 or newer and npm are required")
    }

    /// The contents of all lock files.
    pub fn read_locks(&self) -> Result<String, Failure> {
        let mut text = String::new();
        for name in self.lock_files {
            let path = self.lock_folder.join(name);
            text.push_str(&fs::read_to_string(&path).map_err(|error| at_path(&path, &error))?);
        }
        Ok(text)
    }

    fn is_complete(&self, wanted: &str) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|stamp| stamp == wanted)
            && self.first_missing().is_none()
    }

    fn first_missing(&self) -> Option<&'static str> {
        let mut files = self.required_files.iter().copied();
        files.find(|file| !self.folder.join(file).exists())
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("stamp")
    }
}

fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| at_path(folder, &error))
}

fn remove_folder(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at_path(folder, &error)),
        _ => Ok(()),
    }
}

/// Asserts that `package.json` names exact versions, and that no lock file
/// contains the address of a package registry.
#[cfg(test)]
pub fn assert_pinned(installation: &Installation) {
    let package = fs::read_to_string(installation.lock_folder.join("package.json")).unwrap();
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
    fn an_installation_needs_the_stamp_and_the_required_files() {
        let folder = cargo::root().join("target").join("installation-of-a-test");
        let installation = Installation {
            lock_folder: folder.join("locks"),
            lock_files: &["lock"],
            folder: folder.join("installed"),
            required_files: &["one/program", "two"],
        };
        let lock = installation.lock_folder.join("lock");
        let installed = |name| installation.folder.join(name);
        let install = |_: &Installation| {
            create_folder(&installed("one")).unwrap();
            fs::write(installed("one/program"), "").unwrap();
            fs::write(installed("two"), "").unwrap();
            Ok(())
        };
        remove_folder(&folder).unwrap();
        create_folder(&installation.lock_folder).unwrap();
        fs::write(&lock, "first").unwrap();

        assert_eq!(
            installation.ensure(install),
            Ok(true),
            "nothing is installed"
        );
        assert_eq!(installation.ensure(install), Ok(false));
        fs::write(&lock, "second").unwrap();
        assert_eq!(
            installation.ensure(install),
            Ok(true),
            "the lock file changed"
        );
        fs::remove_file(installed("two")).unwrap();
        assert_eq!(installation.ensure(install), Ok(true), "a file is missing");
        fs::write(&lock, "third").unwrap();
        let failure = installation.ensure(|_| Ok(())).unwrap_err();
        assert!(failure.contains("one/program"), "{failure}");
        remove_folder(&folder).unwrap();
    }
}
