//! `cargo xtask features`: checks that the libraries compile with each feature set.
//!
//! All other steps build with every feature. Code that compiles there can still
//! fail for a user who enables only some, so this step checks: no feature, each
//! feature alone, all features that occur in one `cfg` and each pair of them, and
//! the sets in [`Library::common`]. The list is computed from the manifests and
//! the sources, so a new feature or a new `cfg` cannot be forgotten.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Failure, cargo, process, tidy::Tree};

/// A library whose features are checked.
struct Library {
    /// The name of the package and of its folder.
    package: &'static str,
    /// Further sets: those that the guides recommend, and those that meet where
    /// one `cfg` is inside an item with another.
    common: &'static [&'static [&'static str]],
}

// In a workspace build, other crates can enable features of a dependency that a
// library needs and does not enable itself. So those without features are here too.
const LIBRARIES: &[Library] = &[
    Library {
        package: "bowline-proto",
        common: &[],
    },
    Library {
        package: "bowline-schema",
        common: &[],
    },
    Library {
        package: "bowline",
        common: &[
            &["http-client", "auth", "keyring", "tracing"],
            &["http-server", "auth", "macros", "tracing"],
            &["testing", "server"],
            &["testing", "auth", "http-client"],
            &["testing", "auth", "http-server"],
            &["http-client", "macros"],
        ],
    },
    Library {
        package: "bowline-redis",
        common: &[],
    },
];

/// A set of features, including the features that they enable.
type Features = BTreeSet<String>;

/// Checks every set, or prints the sets with `--list`.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let tree = Tree::read(&cargo::root())?;
    let is_list = match arguments {
        [] => false,
        [list] if list == "--list" => true,
        _ => return Err("the only argument is `--list`".to_owned()),
    };
    for library in LIBRARIES {
        for set in library.combinations(&tree)? {
            if is_list {
                println!("{} {}", library.package, describe(&set));
            } else {
                check(library.package, &set)?;
            }
        }
    }
    Ok(())
}

impl Library {
    /// The sets as they are passed to cargo, in the order in which they are checked.
    fn combinations(&self, tree: &Tree) -> Result<Vec<Vec<String>>, Failure> {
        let folder = format!("crates/{}", self.package);
        let path = format!("{folder}/Cargo.toml");
        let manifest = tree
            .text(&path)
            .ok_or_else(|| format!("{path} is missing"))?;
        let features = parse_features(manifest);
        let mut sets: Vec<Vec<String>> = vec![Vec::new()];
        sets.extend(features.keys().map(|name| vec![name.clone()]));
        let mut in_cfgs = BTreeSet::new();
        for (path, text) in tree.files_ending(".rs") {
            if path.starts_with(&format!("{folder}/src/")) {
                in_cfgs.extend(sets_in(text));
            }
        }
        sets.extend(in_cfgs);
        let owned = |set: &&[&str]| set.iter().map(ToString::to_string).collect();
        sets.extend(self.common.iter().map(owned));
        let mut seen = BTreeSet::new();
        sets.retain(|set| seen.insert(closure(set, &features)));
        Ok(sets)
    }
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

/// The features that occur together in one `cfg` of a source file: all of them, and
/// each pair of them. Each set is sorted.
fn sets_in(source: &str) -> BTreeSet<Vec<String>> {
    let mut sets = BTreeSet::new();
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
        if names.len() < 2 {
            continue;
        }
        for first in &names {
            for second in names.iter().filter(|name| *name > first) {
                sets.insert(vec![first.to_string(), second.to_string()]);
            }
        }
        sets.insert(names.into_iter().map(str::to_owned).collect());
    }
    sets
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
    fn the_features_of_one_cfg_are_checked_together_and_in_pairs() {
        let source = r#"
            #[cfg(feature = "a")]
            #[cfg(all(unix, feature = "c", any(test, feature = "b")))]
            fn f() { if cfg!(all(feature = "b", feature = "d")) {} }
            #[cfg(all(feature = "e", any(feature = "f", not(feature = "g"))))]
        "#;
        let sets: Vec<_> = sets_in(source).into_iter().collect();
        assert_eq!(
            sets,
            [
                &["b", "c"][..],
                &["b", "d"],
                &["e", "f"],
                &["e", "f", "g"],
                &["e", "g"],
                &["f", "g"],
            ]
            .map(names)
        );
    }

    #[test]
    fn a_library_is_checked_with_its_own_features_and_cfgs() {
        let library = Library {
            package: "it",
            common: &[&["a", "b"], &["c", "a"]],
        };
        let tree = Tree::from_texts(&[
            (
                "crates/it/Cargo.toml",
                "[features]\na = []\nb = [\"a\"]\nc = []\nd = []\n",
            ),
            (
                "crates/it/src/lib.rs",
                "#[cfg(all(feature = \"b\", feature = \"c\"))]",
            ),
            (
                "crates/other/src/lib.rs",
                "#[cfg(all(feature = \"c\", feature = \"d\"))]",
            ),
        ]);
        let sets = library.combinations(&tree).unwrap();
        // `a` and `b` together are what `b` is alone.
        let expected = [
            &[][..],
            &["a"],
            &["b"],
            &["c"],
            &["d"],
            &["b", "c"],
            &["c", "a"],
        ];
        assert_eq!(sets, expected.map(names));
    }

    #[test]
    fn every_feature_is_checked_alone_and_no_set_twice() {
        let tree = Tree::read(&cargo::root()).unwrap();
        let of = |package: &str| {
            let library = LIBRARIES.iter().find(|it| it.package == package).unwrap();
            let sets = library.combinations(&tree).unwrap();
            for set in library.common {
                assert!(sets.contains(&names(set)), "{set:?} repeats another set");
            }
            sets
        };
        assert_eq!(of("bowline-proto"), [names(&[]), names(&["zeroize"])]);
        assert_eq!(of("bowline-schema"), [names(&[])]);
        let sets = of("bowline");
        for set in [
            &[][..],
            &["server"],
            &["auth", "http-server"],
            &["auth", "http-client", "http-server"],
        ] {
            assert!(sets.contains(&names(set)), "{set:?} is missing: {sets:?}");
        }
        // One enables the other, so the pair is the larger feature alone.
        assert!(!sets.contains(&names(&["client", "http-client"])));
    }
}
