//! Rule: some words do not belong in this code.
//!
//! - `thread::sleep`: a test that sleeps is slow on every machine and fails on
//!   a busy one; a library that sleeps blocks someone's runtime. Time is
//!   virtual in the core and paused in the facade. What `bench/` measures is
//!   real time, so there it may pass.
//! - `#[ignore]`: a test that does not run is a comment that compiles.
//! - `todo!`, `unimplemented!`, `dbg!`: unfinished work goes into an issue. The
//!   lints deny them too, but not in crates that opt out of the lints.
//! - `serde(untagged)` and `serde(flatten)` in `crates/`: both buffer the whole
//!   value before they decode it, and the first guesses types by shape.

use super::{
    Source, Violation,
    source::{closing, is_name},
};

const SLEEP: &str = "thread::sleep";
const WORDS: &[(&str, &str)] = &[
    (SLEEP, "let the test move virtual time"),
    ("#[ignore", "make the test run, or delete it"),
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("dbg!", "delete it"),
];
const SERDE: &[&str] = &["untagged", "flatten"];
const SERDE_REMEDY: &str = "decode by method or by a tag; see docs/adr/0004-no-untagged-enums.md";

pub fn check(source: &Source<'_>) -> Vec<Violation> {
    let real_time = source.path.starts_with("bench/");
    let words = WORDS
        .iter()
        .filter(|(word, _)| *word != SLEEP || !real_time);
    let words = words.flat_map(|&(word, remedy)| {
        let places = source.find(word).into_iter();
        places.map(move |offset| (offset, word.trim_start_matches("#[").to_owned(), remedy))
    });
    words
        .chain(serde_attributes(source))
        .map(|(offset, word, remedy)| Violation {
            path: source.path.into(),
            line: source.line(offset),
            message: format!("`{word}` is not used here"),
            remedy,
        })
        .collect()
}

fn serde_attributes(source: &Source<'_>) -> Vec<(usize, String, &'static str)> {
    if !source.path.starts_with("crates/") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for start in source.find("serde(") {
        let open = start + "serde".len();
        let arguments = &source.code[open..closing(&source.code, open)];
        let mut names = arguments.split(|c: char| !c.is_ascii() || !is_name(c as u8));
        if let Some(name) = names.find(|name| SERDE.contains(name)) {
            found.push((start, format!("serde({name})"), SERDE_REMEDY));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, messages: &[&str]) {
        let found = check(&Source::new(path, text));
        let found: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(found, messages);
    }

    #[test]
    fn words_are_found() {
        check_text(
            "crates/a/tests/it/main.rs",
            "std::thread::sleep(x); #[ignore = \"slow\"] fn f() { todo!() }",
            &[
                "`thread::sleep` is not used here",
                "`ignore` is not used here",
                "`todo!` is not used here",
            ],
        );
        check_text("bench/src/main.rs", "thread::sleep(x);", &[]);
        check_text("xtask/src/main.rs", "dbg!(x)", &["`dbg!` is not used here"]);
    }

    #[test]
    fn comments_strings_and_longer_names_are_fine() {
        check_text("a.rs", "// todo!\n\"dbg!\"; my_todo!(); #[ignored]", &[]);
    }

    #[test]
    fn serde_shortcuts_are_found_in_crates() {
        let text = "#[serde(untagged)] enum A {}\nstruct B { #[serde(default, flatten)] x: X }";
        check_text(
            "crates/a/src/lib.rs",
            text,
            &[
                "`serde(untagged)` is not used here",
                "`serde(flatten)` is not used here",
            ],
        );
        check_text("bench/src/lib.rs", text, &[]);
        check_text("crates/a/src/lib.rs", "#[serde(default)] x.flatten()", &[]);
    }
}
