//! `cargo xtask packages`: checks every crate that is published in its packed form.
//!
//! A crate that reads a file outside of its folder compiles here and nowhere
//! else. So each crate is packed as for the registry, unpacked below
//! `target/packages`, and checked there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Failure,
    cargo::{self, root},
    installation::succeed,
    no_arguments,
};

/// The members that stay here.
const UNPUBLISHED: &[&str] = &["bowline-conformance", "xtask"];
/// What a page of the registry shows and readers look for.
const WANTED: &[&str] = &[
    "description",
    "readme",
    "keywords",
    "categories",
    "license.workspace",
    "repository.workspace",
    "rust-version.workspace",
];

/// Checks the manifests, then packs and checks what was packed.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    let names = published()?;
    for name in &names {
        check_manifest(name)?;
    }
    pack()?;
    let folder = unpack(&names)?;
    let mut check = cargo::cargo();
    // What these crates depend on is compiled already, for the other steps.
    check
        .args(["check", "--quiet", "--workspace", "--target-dir"])
        .arg(root().join("target"))
        .current_dir(folder);
    succeed(check, "the packed crate lacks something")
}

fn pack() -> Result<(), Failure> {
    let mut package = cargo::cargo();
    // Changes that are not committed are what one wants to check.
    package.args(["package", "--quiet", "--workspace", "--allow-dirty"]);
    package.arg("--no-verify");
    for name in UNPUBLISHED {
        package.args(["--exclude", name]);
    }
    succeed(package, "see above")
}

/// Unpacks the crates into a workspace in which they find each other.
fn unpack(names: &[String]) -> Result<PathBuf, Failure> {
    let folder = root().join("target").join("packages");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    let mut members = Vec::new();
    let mut patches = String::new();
    for name in names {
        let member = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let packed = root()
            .join("target/package")
            .join(format!("{member}.crate"));
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(packed).arg("-C").arg(&folder);
        succeed(tar, "tar is needed")?;
        patches.push_str(&format!("{name} = {{ path = \"{member}\" }}\n"));
        members.push(member);
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}"
    );
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest).map_err(|error| at(&path, &error))?;
    // The versions that everything else is tested with.
    let lock = root().join("Cargo.lock");
    fs::copy(&lock, folder.join("Cargo.lock")).map_err(|error| at(&lock, &error))?;
    Ok(folder)
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    format!("{}: {error}", path.display())
}

/// The folders of the crates that are published.
fn published() -> Result<Vec<String>, Failure> {
    let folder = root().join("crates");
    let fault = |error| at(&folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn check_manifest(name: &str) -> Result<(), Failure> {
    let folder = root().join("crates").join(name);
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
    if let Some(missing) = first_missing(&text) {
        return Err(format!("crates/{name}/Cargo.toml has no `{missing}`"));
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !folder.join(file).exists() {
            return Err(format!("crates/{name} has no {file}"));
        }
    }
    Ok(())
}

/// The first entry of `[package]` that should be there and is not.
fn first_missing(manifest: &str) -> Option<&'static str> {
    let package = manifest.split("[package]").nth(1).unwrap_or_default();
    let package = package.split("\n[").next().unwrap_or_default();
    let has = |key: &str| {
        package.lines().any(|line| {
            line.split('=')
                .next()
                .is_some_and(|found| found.trim() == key)
        })
    };
    WANTED.iter().copied().find(|key| !has(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_what_the_registry_shows() {
        let all: String = WANTED.iter().map(|key| format!("{key} = true\n")).collect();
        assert_eq!(first_missing(&format!("[package]\n{all}")), None);
        let elsewhere = format!("[package]\nname = \"x\"\n[lib]\n{all}");
        assert_eq!(first_missing(&elsewhere), Some("description"));
    }

    #[test]
    fn every_crate_is_ready() {
        for name in published().unwrap() {
            assert_eq!(check_manifest(&name), Ok(()));
        }
    }
}
