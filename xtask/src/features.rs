//! `cargo xtask features`: checks the library with one set of features after another.
//!
//! All other steps build with every feature. Code that compiles there can still
//! fail for a user who enables only some, so this step checks: no feature, each
//! feature alone, each pair that one `cfg` names, and the sets in [`COMMON`].
//! The list is computed from the manifest and the sources, so a new feature or
//! a new `cfg` cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Failure, cargo, installation::succeed, tidy::Tree};

const MANIFEST: &str = "crates/bowline/Cargo.toml";
const SOURCES: &str = "crates/bowline/src/";

/// What the guides tell people to enable, beyond a single feature or pair.
const COMMON: &[&[&str]] = &[
    &["http-client", "auth", "keyring", "tracing"],
    &["http-server", "auth", "macros", "tracing"],
];

/// A set of features, with everything that they enable in turn.
type Features = BTreeSet<String>;

/// Checks every set, or prints the sets with `--list`.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let sets = combinations()?;
    match arguments {
        [] => {
            // What others enable may hide what a crate lacks.
            check("bowline-proto", &[])?;
            sets.iter().try_for_each(|set| check("bowline", set))
        }
        [list] if list == "--list" => {
            for set in &sets {
                println!("{}", describe(set));
            }
            Ok(())
        }
        _ => Err("takes `--list`, or nothing".to_owned()),
    }
}

/// Each set as it is passed to cargo, in the order in which it is checked.
fn combinations() -> Result<Vec<Vec<String>>, Failure> {
    let tree = Tree::read(&cargo::root())?;
    let manifest = tree
        .text(MANIFEST)
        .ok_or_else(|| format!("{MANIFEST} is missing"))?;
    let features = read_features(manifest);
    let mut sets: Vec<Vec<String>> = vec![Vec::new()];
    sets.extend(features.keys().map(|name| vec![name.clone()]));
    let mut pairs = BTreeSet::new();
    for (path, text) in tree.ending(".rs") {
        if path.starts_with(SOURCES) {
            pairs.extend(pairs_in(text));
        }
    }
    sets.extend(pairs.into_iter().map(Vec::from));
    sets.extend(
        COMMON
            .iter()
            .map(|set| set.iter().map(ToString::to_string).collect()),
    );
    let mut seen = BTreeSet::new();
    sets.retain(|set| seen.insert(closure(set, &features)));
    Ok(sets)
}

/// Each feature of a manifest with the features that it enables.
fn read_features(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let section = manifest.split("[features]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let code: String = section
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .collect();
    let mut features = BTreeMap::new();
    for declaration in code.split(']') {
        let Some((name, values)) = declaration.split_once('=') else {
            continue;
        };
        let enabled = values
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|value| !value.contains(['/', ':']));
        features.insert(
            name.trim().to_owned(),
            enabled.map(ToOwned::to_owned).collect(),
        );
    }
    features.remove("default");
    features
}

/// The pairs of features that one `cfg` of a source names.
fn pairs_in(source: &str) -> BTreeSet<[String; 2]> {
    let mut pairs = BTreeSet::new();
    for (start, _) in source.match_indices("cfg") {
        let rest = &source[start..];
        let Some(open) = rest.find('(').filter(|&at| at <= "cfg_attr".len()) else {
            continue;
        };
        let names: BTreeSet<&str> = predicate(&rest[open..])
            .split("feature = \"")
            .skip(1)
            .filter_map(|after| after.split('"').next())
            .collect();
        for first in &names {
            for second in names.iter().filter(|name| *name > first) {
                pairs.insert([first.to_string(), second.to_string()]);
            }
        }
    }
    pairs
}

/// What is between the parenthesis that `text` begins with and its counterpart.
fn predicate(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return &text[1..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// The features of a set, and those that they enable in turn.
fn closure(set: &[String], features: &BTreeMap<String, Vec<String>>) -> Features {
    let mut all = Features::new();
    let mut open = set.to_vec();
    while let Some(name) = open.pop() {
        let enabled = features.get(&name).cloned().unwrap_or_default();
        if all.insert(name) {
            open.extend(enabled);
        }
    }
    all
}

fn check(package: &str, set: &[String]) -> Result<(), Failure> {
    eprintln!("features: {package} {}", describe(set));
    let mut rustc = cargo::cargo();
    rustc
        .args(["rustc", "--quiet", "--lib", "--package", package])
        .args(["--profile", "check", "--no-default-features", "--features"])
        .arg(set.join(","))
        .args(["--", "-D", "warnings"]);
    let set = describe(set);
    succeed(
        rustc,
        &format!("`{package}` must compile with the features {set}"),
    )
}

fn describe(set: &[String]) -> String {
    match set.is_empty() {
        true => "(none)".to_owned(),
        false => set.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(set: &[&str]) -> Vec<String> {
        set.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn features_are_read_with_what_they_enable() {
        let manifest = "[package]\n[features]\ndefault = [\"a\"]\n# A comment = [\"no\"]\n\
            a = [\"dep:x\", \"y?/z\"]\nb = [\n    \"a\",\n    \"dep:y\",\n]\n\n[dependencies]\nc = \"1\"\n";
        let features = read_features(manifest);
        assert_eq!(
            features,
            BTreeMap::from([("a".into(), names(&[])), ("b".into(), names(&["a"]))])
        );
        assert_eq!(
            closure(&names(&["b"]), &features),
            names(&["a", "b"]).into_iter().collect()
        );
    }

    #[test]
    fn a_pair_is_what_one_cfg_names() {
        let source = r#"
            #[cfg(feature = "a")]
            #[cfg(all(unix, feature = "c", any(test, feature = "b")))]
            fn f() { if cfg!(all(feature = "b", feature = "d")) {} }
        "#;
        let pairs: Vec<_> = pairs_in(source).into_iter().collect();
        assert_eq!(
            pairs,
            [["b", "c"], ["b", "d"]].map(|pair| pair.map(str::to_owned))
        );
    }

    #[test]
    fn every_feature_is_checked_alone_and_no_set_twice() {
        let sets = combinations().unwrap();
        assert!(sets.contains(&Vec::new()));
        assert!(sets.contains(&names(&["server"])));
        assert!(sets.contains(&names(&["auth", "http-server"])), "{sets:?}");
        // One enables the other, so the pair is the larger feature alone.
        assert!(!sets.contains(&names(&["client", "http-client"])));
        for set in COMMON {
            assert!(sets.contains(&names(set)), "{set:?} repeats another set");
        }
    }
}
