//! `cargo xtask packages`: builds every crate that is published from its packed form.
//!
//! A crate that reads a file outside of its folder builds here and nowhere
//! else. Cargo packs each crate as it would for the registry, unpacks it, and
//! builds what it finds.

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

/// Checks the manifests, then packs and builds.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments(arguments)?;
    for name in published()? {
        check_manifest(&name)?;
    }
    let mut package = cargo::cargo();
    // Changes that are not committed are what one wants to check.
    package.args(["package", "--quiet", "--workspace", "--allow-dirty"]);
    for name in UNPUBLISHED {
        package.args(["--exclude", name]);
    }
    succeed(package, "the packed crate lacks something")
}

/// The folders of the crates that are published.
fn published() -> Result<Vec<String>, Failure> {
    let folder = root().join("crates");
    let fault = |error| format!("cannot read {}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn check_manifest(name: &str) -> Result<(), Failure> {
    let folder = root().join("crates").join(name);
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
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
