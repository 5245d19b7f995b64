//! The transcripts in `tests/cmd`: what is typed, and what comes of it.
//!
//! `TRYCMD=overwrite cargo test -p bowline-cli snapshots` writes them anew.
//! Output and remarks stand together, as in a terminal; `? 5` below a command
//! is its exit code.

use std::time::Duration;

use crate::rig::{self, Rig};

#[test]
fn auth() {
    assert_true("auth");
}

#[test]
fn call() {
    assert_true("call");
}

#[test]
fn demo() {
    assert_true("demo");
}

#[test]
fn interaction() {
    assert_true("interaction");
}

#[test]
fn locked() {
    assert_true("locked");
}

#[test]
fn traffic() {
    assert_true("traffic");
}

#[test]
fn no_folder_is_forgotten() {
    let folders = std::fs::read_dir("tests/cmd").expect("there are transcripts");
    let mut names: Vec<String> = folders
        .filter_map(|folder| folder.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let tests = ["auth", "call", "demo", "interaction", "locked", "traffic"];
    assert_eq!(names, tests);
}

/// Runs the commands of all transcripts in a folder, and compares what they print.
fn assert_true(folder: &str) {
    let rig = Rig::new();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("bowline", std::path::Path::new(rig::BOWLINE))
        .register_bin("fixture", rig::example("fixture").as_path())
        .timeout(Duration::from_secs(60));
    for (name, value) in rig::environment(&rig.home()) {
        cases.env(name, value);
    }
    // The rig goes away when the cases have run.
    cases.case(format!("tests/cmd/{folder}/*.trycmd")).run();
}
