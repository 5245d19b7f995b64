//! Rule: no Rust file is longer than 600 lines.
//!
//! A file is one concept. Files that grow past this hold several, and nobody
//! notices while they do. Tests count: a test file is read as often.

use super::{Source, Violation};

const LIMIT: usize = 600;

pub fn check(source: &Source<'_>) -> Option<Violation> {
    let lines = source.text.lines().count();
    (lines > LIMIT).then(|| Violation {
        path: source.path.into(),
        line: LIMIT + 1,
        message: format!("the file has {lines} lines, more than {LIMIT}"),
        remedy: "split it by concept",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let at = "x\n".repeat(LIMIT);
        assert_eq!(check(&Source::new("a.rs", &at)), None);
        let over = "x\n".repeat(LIMIT + 1);
        assert_eq!(check(&Source::new("a.rs", &over)).unwrap().line, LIMIT + 1);
    }
}
