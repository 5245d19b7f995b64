//! Rule: no package is linked in two versions, unless a reason is on record.
//!
//! Each further version is compiled, linked and downloaded by every user, and
//! its types do not fit those of the other.

use std::collections::BTreeMap;

use super::{Violation, dependency_tree::Package};

/// Packages that are there in several versions, and why.
const KNOWN: &[(&str, &str)] = &[
    ("getrandom", "ring has 0.2, jsonschema has 0.3"),
    ("r-efi", "two versions of getrandom, for UEFI only"),
    ("syn", "2 comes with build tools that have not moved to 3"),
    ("windows-sys", "ring has 0.52, for Windows only"),
];

pub fn check(packages: &[Package]) -> Vec<Violation> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let of_package = versions.entry(&package.name).or_default();
        if !of_package.contains(&package.version.as_str()) {
            of_package.push(&package.version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    let mut violations = Vec::new();
    for (name, versions) in &versions {
        if !KNOWN.iter().any(|(known, _)| known == name) {
            violations.push(violation(
                format!("`{name}` is linked in versions {}", versions.join(", ")),
                "`cargo tree -i NAME@VERSION` shows who asks for which; move to one, or record the reason in xtask/src/tidy/duplicate_versions.rs",
            ));
        }
    }
    for (known, _) in KNOWN {
        if !versions.contains_key(known) {
            violations.push(violation(
                format!("`{known}` is linked in one version only"),
                "remove it from the list in xtask/src/tidy/duplicate_versions.rs",
            ));
        }
    }
    violations
}

fn violation(message: String, remedy: &'static str) -> Violation {
    Violation {
        path: "Cargo.lock".into(),
        line: 1,
        message,
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(list: &[(&str, &str)]) -> Vec<Package> {
        let known = KNOWN
            .iter()
            .flat_map(|(name, _)| [(*name, "1.0.0"), (*name, "2.0.0")]);
        let all = known.chain(list.iter().copied());
        all.map(|(name, version)| Package {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: "MIT".to_owned(),
        })
        .collect()
    }

    #[test]
    fn a_second_version_needs_a_reason() {
        assert_eq!(check(&packages(&[("bytes", "1.0.0")])), []);
        assert_eq!(
            check(&packages(&[("bytes", "1.0.0"), ("bytes", "1.0.0")])),
            []
        );
        let found = check(&packages(&[("bytes", "1.0.0"), ("bytes", "2.0.0")]));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("1.0.0, 2.0.0"), "{}", found[0]);
    }

    #[test]
    fn a_reason_that_no_longer_applies_is_reported() {
        assert_eq!(check(&[]).len(), KNOWN.len());
    }
}
