//! `cargo xtask packages`: checks every published crate as packaged for the registry.
//!
//! A crate that reads a file outside its folder compiles here and nowhere else.
//! So each crate is packaged, unpacked in `target/packages`, and checked there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Failure,
    cargo::{self, root},
    expect_no_arguments,
    failure::at_path,
    process,
};

/// The workspace members that are not published.
const UNPUBLISHED: &[&str] = &["bowline-conformance", "xtask"];
/// The manifest keys that the registry shows.
const REQUIRED_KEYS: &[&str] = &[
    "description",
    "readme",
    "keywords",
    "categories",
    "license.workspace",
    "repository.workspace",
    "rust-version.workspace",
];

/// Checks the manifests, then packages the crates and checks the packages.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    expect_no_arguments(arguments)?;
    let names = published_crates()?;
    for name in &names {
        check_manifest(name)?;
    }
    package_crates()?;
    let folder = unpack(&names)?;
    // The features that users get by default, and the code behind all others.
    check_packages(&folder, &[])?;
    check_packages(&folder, &["--all-features"])
}

fn check_packages(folder: &Path, features: &[&str]) -> Result<(), Failure> {
    let mut check = cargo::cargo();
    // The other steps have compiled the dependencies in this target folder.
    check
        .args(["check", "--quiet", "--workspace", "--target-dir"])
        .arg(root().join("target"))
        .args(features)
        .current_dir(folder);
    process::run(check, "a file or a dependency is missing from a package")
}

fn package_crates() -> Result<(), Failure> {
    let mut package = cargo::cargo();
    // Uncommitted changes are checked too.
    package.args(["package", "--quiet", "--workspace", "--allow-dirty"]);
    package.arg("--no-verify");
    for name in UNPUBLISHED {
        package.args(["--exclude", name]);
    }
    process::run(package, "see above")
}

/// Unpacks the packages into a workspace in which they depend on each other.
fn unpack(names: &[String]) -> Result<PathBuf, Failure> {
    let folder = root().join("target").join("packages");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| at_path(&folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| at_path(&folder, &error))?;
    let mut members = Vec::new();
    let mut patches = String::new();
    for name in names {
        let member = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let packed = root()
            .join("target/package")
            .join(format!("{member}.crate"));
        let mut tar = Command::new("tar");
        // `m` sets new modification times. Packed files have a constant one, so
        // cargo would consider an older build up to date.
        tar.arg("-xzmf").arg(packed).arg("-C").arg(&folder);
        process::run(tar, "tar is required")?;
        patches.push_str(&format!("{name} = {{ path = \"{member}\" }}\n"));
        members.push(member);
    }
    let profile = development_profile()?;
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}\n{profile}"
    );
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest).map_err(|error| at_path(&path, &error))?;
    // The dependency versions that everything else is tested with.
    let lock = root().join("Cargo.lock");
    fs::copy(&lock, folder.join("Cargo.lock")).map_err(|error| at_path(&lock, &error))?;
    Ok(folder)
}

/// The development profile of the workspace. With another one, the dependencies
/// would be compiled again.
fn development_profile() -> Result<String, Failure> {
    let path = root().join("Cargo.toml");
    let manifest = fs::read_to_string(&path).map_err(|error| at_path(&path, &error))?;
    let start = manifest.find("[profile.dev]");
    let start = start.ok_or("Cargo.toml has no `[profile.dev]`")?;
    Ok(manifest[start..].to_owned())
}

/// The names of the published crates, which are those of their folders.
fn published_crates() -> Result<Vec<String>, Failure> {
    let folder = root().join("crates");
    let failure = |error| at_path(&folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failure)? {
        let name = entry.map_err(failure)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn check_manifest(name: &str) -> Result<(), Failure> {
    let folder = root().join("crates").join(name);
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| at_path(&path, &error))?;
    if let Some(missing) = first_missing_key(&text) {
        return Err(format!("crates/{name}/Cargo.toml has no `{missing}`"));
    }
    if !shows_all_features(&text) {
        return Err(format!(
            "crates/{name}/Cargo.toml has features, so it needs `all-features = true` in `[package.metadata.docs.rs]`"
        ));
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !folder.join(file).exists() {
            return Err(format!("crates/{name} has no {file}"));
        }
    }
    Ok(())
}

/// The first required key that is missing from `[package]`.
fn first_missing_key(manifest: &str) -> Option<&'static str> {
    let package = table(manifest, "[package]").unwrap_or_default();
    let has = |key: &str| {
        package.lines().any(|line| {
            line.split('=')
                .next()
                .is_some_and(|found| found.trim() == key)
        })
    };
    REQUIRED_KEYS.iter().copied().find(|key| !has(key))
}

/// Returns whether docs.rs documents the items of every feature: by default it
/// leaves out those that a feature must enable.
fn shows_all_features(manifest: &str) -> bool {
    let settings = table(manifest, "[package.metadata.docs.rs]").unwrap_or_default();
    table(manifest, "[features]").is_none() || settings.contains("all-features = true")
}

/// The lines of a manifest between a heading and the next one.
fn table<'a>(manifest: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = manifest.split_once(heading)?;
    rest.split("\n[").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_has_the_keys_that_the_registry_shows() {
        let all: String = REQUIRED_KEYS
            .iter()
            .map(|key| format!("{key} = true\n"))
            .collect();
        assert_eq!(first_missing_key(&format!("[package]\n{all}")), None);
        let elsewhere = format!("[package]\nname = \"x\"\n[lib]\n{all}");
        assert_eq!(first_missing_key(&elsewhere), Some("description"));
    }

    #[test]
    fn a_manifest_with_features_shows_all_of_them() {
        let features = "[package]\n[features]\na = []\n";
        let docs = "[package.metadata.docs.rs]\n";
        assert!(shows_all_features("[package]\n"));
        assert!(!shows_all_features(features));
        assert!(!shows_all_features(&format!("{docs}{features}")));
        let all = format!("{docs}all-features = true\n{features}");
        assert!(shows_all_features(&all));
    }

    #[test]
    fn every_manifest_is_complete() {
        for name in published_crates().unwrap() {
            assert_eq!(check_manifest(&name), Ok(()));
        }
    }
}
