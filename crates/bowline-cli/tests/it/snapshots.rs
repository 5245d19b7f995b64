//! The transcripts in `tests/cmd`: what is typed, and what comes of it.
//!
//! `TRYCMD=overwrite cargo test -p bowline-cli snapshots` writes them anew.
//! Output and remarks stand together, as in a terminal; `? 5` below a command
//! is its exit code.

use std::time::Duration;

use crate::rig::{self, Rig};

#[test]
fn transcripts_are_true() {
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
    cases.case("tests/cmd/*/*.trycmd").run();
}
