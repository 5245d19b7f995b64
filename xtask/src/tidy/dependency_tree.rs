//! The packages that the workspace depends on, from `cargo tree`.

use std::collections::BTreeSet;

use crate::{Failure, cargo};

/// One version of one package.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// The SPDX expression in its manifest.
    pub licence: String,
}

/// All dependencies that are linked or run at build time, on every platform and
/// with every feature. Test dependencies are left out, because they are not
/// shipped.
pub fn read() -> Result<Vec<Package>, Failure> {
    let tree = cargo::tree(&[
        "--workspace",
        "--all-features",
        "--target",
        "all",
        "--edges",
        "normal,build",
        "--format",
        "{p}|{l}",
    ])?;
    Ok(parse(&tree))
}

/// Parses lines such as `bytes v1.10.0|MIT` and `xtask v0.1.0 (/some/folder)|MIT (*)`.
fn parse(tree: &str) -> Vec<Package> {
    let packages: BTreeSet<Package> = tree
        .lines()
        .filter_map(|line| {
            let (package, licence) = line.split_once('|')?;
            let mut words = package.split_whitespace();
            Some(Package {
                name: words.next()?.to_owned(),
                version: words.next()?.trim_start_matches('v').to_owned(),
                licence: licence.trim_end_matches(" (*)").to_owned(),
            })
        })
        .collect();
    packages.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_occurs_once() {
        let tree = "xtask v0.1.0 (/some/folder)|MIT OR Apache-2.0\nbytes v1.10.0|MIT\n\
            bytes v1.10.0|MIT (*)\nserde_derive v1.0.0 (proc-macro)|MIT\n\n";
        let names: Vec<String> = parse(tree)
            .into_iter()
            .map(|package| format!("{} {} {}", package.name, package.version, package.licence))
            .collect();
        assert_eq!(
            names,
            [
                "bytes 1.10.0 MIT",
                "serde_derive 1.0.0 MIT",
                "xtask 0.1.0 MIT OR Apache-2.0"
            ]
        );
    }
}
