//! Compile errors for common mistakes. People read these messages, so they are
//! reviewed like any other text: `tests/ui/*.rs` are the mistakes and
//! `tests/ui/*.stderr` the messages of the newest stable compiler.
//!
//! After a change, `UI_OVERWRITE=1` writes the messages again.

mod compiler;
mod normalize;

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use self::compiler::Compiler;

#[test]
fn mistakes_are_explained() {
    let compiler = Compiler::with_checked_library();
    let cases = Mutex::new(cases());
    let next = || cases.lock().expect("not poisoned").pop();
    let differences = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(case) = next() {
                    if let Err(difference) = check(&compiler, &case) {
                        let mut all = differences.lock().expect("not poisoned");
                        all.push(difference);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().expect("not poisoned");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn workspace() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder)
}

/// The programs that must not compile.
fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    let cases: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect();
    assert!(!cases.is_empty());
    cases
}

/// Compares the messages for a case with those on file, or writes them there.
fn check(compiler: &Compiler, case: &Path) -> Result<(), String> {
    let messages = compiler.messages(case)?;
    let file = case.with_extension("stderr");
    if env::var_os("UI_OVERWRITE").is_some() {
        return fs::write(&file, messages).map_err(|error| format!("{}: {error}", file.display()));
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    match messages == expected {
        true => Ok(()),
        false => Err(format!(
            "{} is not what the compiler says. If this is better, set UI_OVERWRITE=1:\n{messages}",
            file.display()
        )),
    }
}
