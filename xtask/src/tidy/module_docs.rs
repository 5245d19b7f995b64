//! Rule: every Rust file begins with a `//!` comment.
//!
//! A reader who opens a file while searching should learn from its first line
//! what belongs in it. If that line is hard to write, the file usually holds two
//! concepts.

use super::{Source, Violation};

pub fn check(source: &Source<'_>) -> Option<Violation> {
    let first = source.text.lines().next().unwrap_or_default();
    let is_documented = first
        .strip_prefix("//!")
        .is_some_and(|sentence| !sentence.trim().is_empty());
    (!is_documented).then(|| Violation {
        path: source.path.into(),
        line: 1,
        message: "the file does not begin with a `//!` comment".into(),
        remedy: "say in one sentence what belongs in this file",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, passes: bool) {
        assert_eq!(
            check(&Source::new("a.rs", text)).is_none(),
            passes,
            "{text:?}"
        );
    }

    #[test]
    fn the_first_line_is_a_doc_comment() {
        check_text("//! Ids.\n\nuse x;", true);
        check_text("//! Ids.\n#![no_main]", true);
        check_text("//!\n//! Ids.", false);
        check_text("use x;", false);
        check_text("// Ids.", false);
        check_text("\n//! Ids.", false);
        check_text("", false);
    }
}
