//! `cargo xtask <verb>`: one verb for each thing that people and CI run.

fn main() {}
