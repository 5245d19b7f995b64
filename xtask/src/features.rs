//! `cargo xtask features`: checks that the library compiles with each feature set.
//!
//! All other steps build with every feature. Code that compiles there can still
//! fail for a user who enables only some, so this step checks: no feature, each
//! feature alone, each pair that occurs in one `cfg`, and the sets in
//! [`COMMON`]. The list is computed from the manifest and the sources, so a new
//! feature or a new `cfg` cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Failure, cargo, process, tidy::Tree};

const MANIFEST: &str = "crates/bowline/Cargo.toml";
const SOURCES: &str = "crates/bowline/src/";

/// The sets that the guides recommend, beyond a single feature or pair.
const COMMON: &[&[&str]] = &[
    &["http-client", "auth", "keyring", "tracing"],
    &["http-server", "auth", "macros", "tracing"],
];

/// A set of features, including the features that they enable.
type Features = BTreeSet<String>;

/// Checks every set, or prints the sets with `--list`.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let sets = combinations()?;
    match arguments {
        [] => {
            // In a workspace build, other crates can enable features of a dependency
            // that this crate needs and does not enable itself.
            check("bowline-proto", &[])?;
            check("bowline-schema", &[])?;
            sets.iter().try_for_each(|set| check("bowline", set))
        }
        [list] if list == "--list" => {
            for set in &sets {
                println!("{}", describe(set));
            }
            Ok(())
        }
        _ => Err("the only argument is `--list`".to_owned()),
    }
}

/// The sets as they are passed to cargo, in the order in which they are checked.
fn combinations() -> Result<Vec<Vec<String>>, Failure> {
    let tree = Tree::read(&cargo::root())?;
    let manifest = tree
        .text(MANIFEST)
        .ok_or_else(|| format!("{MANIFEST} is missing"))?;
    let features = parse_features(manifest);
    let mut sets: Vec<Vec<String>> = vec![Vec::new()];
    sets.extend(features.keys().map(|name| vec![name.clone()]));
    let mut pairs = BTreeSet::new();
    for (path, text) in tree.files_ending(".rs") {
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

/// The features of a manifest, each with the features that it enables.
fn parse_features(manifest: &str) -> BTreeMap<String, Vec<String>> {
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

/// The pairs of features that occur together in one `cfg` of a source file.
fn pairs_in(source: &str) -> BTreeSet<[String; 2]> {
    let mut pairs = BTreeSet::new();
    for (start, _) in source.match_indices("cfg") {
        let rest = &source[start..];
        let Some(open) = rest.find('(').filter(|&at| at <= "cfg_attr".len()) else {
            continue;
        };
        let names: BTreeSet<&str> = parenthesized(&rest[open..])
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

/// The contents of the parentheses that `text` begins with.
fn parenthesized(text: &str) -> &str {
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

/// The features of a set, and the features that they enable, transitively.
fn closure(set: &[String], features: &BTreeMap<String, Vec<String>>) -> Features {
    let mut all = Features::new();
    let mut pending = set.to_vec();
    while let Some(name) = pending.pop() {
        let enabled = features.get(&name).cloned().unwrap_or_default();
        if all.insert(name) {
            pending.extend(enabled);
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
    process::run(
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
    fn features_are_parsed_with_what_they_enable() {
        let manifest = "[package]\n[features]\ndefault = [\"a\"]\n# A comment = [\"no\"]\n\
            a = [\"dep:x\", \"y?/z\"]\nb = [\n    \"a\",\n    \"dep:y\",\n]\n\n[dependencies]\nc = \"1\"\n";
        let features = parse_features(manifest);
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
    fn a_pair_occurs_in_one_cfg() {
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
