//! Rule: no package is linked in two versions without a recorded reason.
//!
//! Every user downloads, compiles and links each further version, and its types
//! are incompatible with those of the others.

use std::collections::BTreeMap;

use super::{Violation, dependency_tree::Package};

/// Packages that are linked in several versions, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("getrandom", "ring uses 0.2"),
    ("syn", "2 is used by build tools that have not moved to 3"),
    ("windows-sys", "ring uses 0.52, on Windows only"),
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
        if !EXCEPTIONS.iter().any(|(exception, _)| exception == name) {
            violations.push(violation(
                format!("`{name}` is linked in versions {}", versions.join(", ")),
                "`cargo tree -i NAME@VERSION` shows which crate needs it; use one version, or record the reason in xtask/src/tidy/duplicate_versions.rs",
            ));
        }
    }
    for (exception, _) in EXCEPTIONS {
        if !versions.contains_key(exception) {
            violations.push(violation(
                format!("`{exception}` is no longer linked in several versions"),
                "remove its exception from xtask/src/tidy/duplicate_versions.rs",
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
        let exceptions = EXCEPTIONS
            .iter()
            .flat_map(|(name, _)| [(*name, "1.0.0"), (*name, "2.0.0")]);
        let all = exceptions.chain(list.iter().copied());
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
        assert_eq!(check(&[]).len(), EXCEPTIONS.len());
    }
}
