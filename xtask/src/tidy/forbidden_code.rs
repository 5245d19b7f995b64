//! Rule: some functions, macros and attributes are not used.
//!
//! - `thread::sleep`: a test that sleeps is slow on every machine and fails on
//!   a busy one; a library that sleeps blocks the caller's runtime. Time is an
//!   argument in the core and paused in the facade's tests. `bench/` measures
//!   real time, so it is allowed there.
//! - `#[ignore]`: a test that does not run is a comment that compiles.
//! - `todo!`, `unimplemented!`, `dbg!`: unfinished work belongs in an issue. The
//!   lints deny them too, but not in crates that opt out of the lints.
//! - `serde(untagged)` and `serde(flatten)` in `crates/`: both buffer the whole
//!   value before they decode it, and `untagged` guesses types by their shape.
//!   Generated clients need both, so the files that tests compare them with may
//!   have them.

use super::{
    Source, Violation,
    source::{after_closing, is_name_byte},
};

const SLEEP: &str = "thread::sleep";
const FORBIDDEN: &[(&str, &str)] = &[
    (SLEEP, "advance the clock that the test controls"),
    ("#[ignore", "make the test run, or delete it"),
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("dbg!", "delete it"),
];
const SERDE: &[&str] = &["untagged", "flatten"];
const SERDE_REMEDY: &str = "decode by method or by a tag; see docs/adr/0004-no-untagged-enums.md";

pub fn check(source: &Source<'_>) -> Vec<Violation> {
    let may_sleep = source.path.starts_with("bench/");
    let forbidden = FORBIDDEN
        .iter()
        .filter(|(code, _)| *code != SLEEP || !may_sleep);
    let found = forbidden.flat_map(|&(code, remedy)| {
        let offsets = source.find(code).into_iter();
        offsets.map(move |offset| (offset, code.trim_start_matches("#[").to_owned(), remedy))
    });
    found
        .chain(serde_attributes(source))
        .map(|(offset, code, remedy)| Violation {
            path: source.path.into(),
            line: source.line(offset),
            message: format!("`{code}` is forbidden"),
            remedy,
        })
        .collect()
}

fn serde_attributes(source: &Source<'_>) -> Vec<(usize, String, &'static str)> {
    if !source.path.starts_with("crates/") || source.path.contains("/tests/golden/") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for start in source.find("serde(") {
        let open = start + "serde".len();
        let arguments = &source.code[open..after_closing(&source.code, open)];
        let mut names = arguments.split(|c: char| !c.is_ascii() || !is_name_byte(c as u8));
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
    fn forbidden_code_is_found() {
        check_text(
            "crates/a/tests/it/main.rs",
            "std::thread::sleep(x); #[ignore = \"slow\"] fn f() { todo!() }",
            &[
                "`thread::sleep` is forbidden",
                "`ignore` is forbidden",
                "`todo!` is forbidden",
            ],
        );
        check_text("bench/src/main.rs", "thread::sleep(x);", &[]);
        check_text("xtask/src/main.rs", "dbg!(x)", &["`dbg!` is forbidden"]);
    }

    #[test]
    fn comments_strings_and_longer_names_pass() {
        check_text("a.rs", "// todo!\n\"dbg!\"; my_todo!(); #[ignored]", &[]);
    }

    #[test]
    fn serde_attributes_are_found_in_crates() {
        let text = "#[serde(untagged)] enum A {}\nstruct B { #[serde(default, flatten)] x: X }";
        check_text(
            "crates/a/src/lib.rs",
            text,
            &[
                "`serde(untagged)` is forbidden",
                "`serde(flatten)` is forbidden",
            ],
        );
        check_text("bench/src/lib.rs", text, &[]);
        check_text("crates/a/tests/golden/b.rs", text, &[]);
        check_text("crates/a/src/lib.rs", "#[serde(default)] x.flatten()", &[]);
    }
}
