//! The official JSON Schema Test Suite, draft 2020-12, all required tests.
//!
//! `cargo xtask peers` installs it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use bowline_schema::Validator;
use serde_json::Value;

/// Nothing is ever fetched, so a schema that needs another document is rejected.
const OTHER_DOCUMENT: &str = "it refers to another document";
/// Metaschemas are not read, so every schema has all keywords.
const VOCABULARY: &str = "its metaschema removes keywords";

/// The file in which every group refers to another document.
const REMOTE_FILE: &str = "refRemote";

/// The other groups of tests that fail: file, group, reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "defs",
        "validate definition against metaschema",
        OTHER_DOCUMENT,
    ),
    (
        "dynamicRef",
        "$ref and $dynamicAnchor are independent of order - $defs first",
        OTHER_DOCUMENT,
    ),
    (
        "dynamicRef",
        "$ref and $dynamicAnchor are independent of order - $ref first",
        OTHER_DOCUMENT,
    ),
    (
        "dynamicRef",
        "$ref to $dynamicRef finds detached $dynamicAnchor",
        OTHER_DOCUMENT,
    ),
    (
        "dynamicRef",
        "strict-tree schema, guards against misspelled properties",
        OTHER_DOCUMENT,
    ),
    (
        "dynamicRef",
        "tests for implementation dynamic anchor and reference link",
        OTHER_DOCUMENT,
    ),
    ("ref", "remote ref, containing refs itself", OTHER_DOCUMENT),
    (
        "vocabulary",
        "schema that uses custom metaschema with with no validation vocabulary",
        VOCABULARY,
    ),
];

#[test]
fn the_official_suite_passes() {
    let mut failed = BTreeSet::new();
    let (mut passed, mut all) = (0, 0);
    for path in files() {
        let file = path.file_stem().expect("it has a name").to_string_lossy();
        let text = fs::read_to_string(&path).expect("it is readable");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        for group in &groups {
            let (schema, tests) = (&group["schema"], list(&group["tests"]));
            let good = tests.iter().filter(|test| passes(schema, test)).count();
            (passed, all) = (passed + good, all + tests.len());
            if good < tests.len() {
                let name = group["description"].as_str().expect("a description");
                failed.insert((file.clone().into_owned(), name.to_owned()));
            }
        }
    }
    failed.retain(|(file, _)| file != REMOTE_FILE);
    let expected = EXCEPTIONS
        .iter()
        .map(|(file, name, _)| ((*file).to_owned(), (*name).to_owned()));
    assert_eq!(failed, expected.collect(), "{passed} of {all} tests pass");
}

#[test]
fn other_documents_are_not_fetched() {
    let path = suite().join("refRemote.json");
    let text = fs::read_to_string(path).expect("it is readable");
    let groups: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
    for group in &groups {
        let error = Validator::new(&group["schema"]).expect_err("it is remote");
        assert!(
            error.to_string().contains("refers outside of the schema"),
            "{error}"
        );
    }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn passes(schema: &Value, test: &Value) -> bool {
    let Ok(validator) = Validator::new(schema) else {
        return false;
    };
    let valid = test["valid"].as_bool().expect("a boolean");
    validator.is_valid(&test["data"]) == valid
        && validator.errors(&test["data"]).is_empty() == valid
}

/// Returns all groups of tests.
pub(crate) fn groups() -> Vec<Value> {
    let groups = files().into_iter().flat_map(|path| {
        let text = fs::read_to_string(path).expect("it is readable");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
        groups
    });
    groups.collect()
}

fn suite() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    workspace.join("target/peers/json-schema-test-suite/tests/draft2020-12")
}

fn files() -> Vec<PathBuf> {
    let folder = suite();
    let entries = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}; run `cargo xtask peers`", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("it is readable").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    files.sort();
    assert!(files.len() > 40, "{files:?}");
    files
}
