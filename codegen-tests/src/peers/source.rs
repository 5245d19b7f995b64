//! The source that is generated for servers of others, and for difficult names:
//! rustfmt and the TypeScript compiler have nothing to say about it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use bowline::lock::Lock;
use bowline_codegen::GeneratedFile;

use crate::{difficult_names, offers};

/// The options of the TypeScript compiler, as strict as it can be.
pub(crate) const STRICT: [&str; 8] = [
    "--strict",
    "--noUncheckedIndexedAccess",
    "--exactOptionalPropertyTypes",
    "--noEmit",
    "--target",
    "es2022",
    "--module",
    "nodenext",
];

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers")
}

fn lock() -> Lock {
    let offers = fs::read_to_string(peers().join("offers.json")).expect("it is installed");
    let mut lock = offers::lock(&offers).expect("offers");
    let difficult = difficult_names::server().expect("its schemas are JSON");
    lock.servers.insert("difficult".to_owned(), difficult);
    lock
}

/// Writes files to a new folder, and returns their paths.
pub(crate) fn write(files: &[GeneratedFile], folder: &Path) -> Vec<PathBuf> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("it can be made");
    let paths = files.iter().map(|file| {
        let path = folder.join(&file.path);
        fs::write(&path, &file.contents).expect("it can be written");
        path
    });
    paths.collect()
}

/// Runs a program that must succeed, and returns what it printed.
#[track_caller]
pub(crate) fn assert_succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    output.stdout
}

#[test]
fn rust_is_formatted() {
    let lock = lock();
    let tools: usize = lock.servers.values().map(|server| server.tools.len()).sum();
    assert!(lock.servers.len() >= 15 && tools > 400, "{tools} tools");
    let files = bowline_codegen::rust::generate(&lock).expect("no collisions");
    let folder = Path::new(env!("OUT_DIR")).join("generated-rust");
    // The first file names the others as its modules.
    let paths = write(&files, &folder);
    let mut rustfmt = Command::new("rustfmt");
    assert_succeeds(
        rustfmt
            .args(["--edition", "2024", "--check"])
            .arg(&paths[0]),
    );
}

#[test]
fn typescript_compiles() {
    let files = bowline_codegen::typescript::generate(&lock()).expect("no collisions");
    let folder = Path::new(env!("OUT_DIR")).join("generated-typescript");
    let paths = write(&files, &folder);
    let mut tsc = Command::new(peers().join("node/node_modules/.bin/tsc"));
    assert_succeeds(tsc.args(STRICT).args(paths));
}
