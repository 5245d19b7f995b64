//! Rule: no Rust file is longer than 600 lines.
//!
//! A file holds one concept. Files that grow beyond this hold several, and grow
//! so slowly that nobody notices. Test files are read as often, so they count.

use super::{Source, Violation};

const MAX_LINES: usize = 600;

pub fn check(source: &Source<'_>) -> Option<Violation> {
    let lines = source.text.lines().count();
    (lines > MAX_LINES).then(|| Violation {
        path: source.path.into(),
        line: MAX_LINES + 1,
        message: format!("the file has {lines} lines; at most {MAX_LINES} are allowed"),
        remedy: "split it by concept",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let at = "x\n".repeat(MAX_LINES);
        assert_eq!(check(&Source::new("a.rs", &at)), None);
        let over = "x\n".repeat(MAX_LINES + 1);
        assert_eq!(
            check(&Source::new("a.rs", &over)).unwrap().line,
            MAX_LINES + 1
        );
    }
}
