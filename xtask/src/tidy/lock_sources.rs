//! Rule: lock files name no package registry but the public one.
//!
//! A lock file written behind a mirror carries the mirror's address, and then
//! nobody else can build. Cargo's own lock has one standard source; a lock of
//! npm can be written without addresses.

use super::Violation;

const STANDARD: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// What begins a line that says where a package comes from.
const KEYS: &[&str] = &["source = ", "\"resolved\":", "resolved "];

pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !is_lock(path) {
        return Vec::new();
    }
    text.lines()
        .enumerate()
        .filter_map(|(number, line)| Some((number + 1, origin(line)?)))
        .filter(|(_, origin)| *origin != STANDARD)
        .map(|(line, _)| Violation {
            path: path.into(),
            line,
            message: "a package comes from a registry that others may not reach".into(),
            remedy: "for cargo, lock against the public index; for npm, set omit-lockfile-registry-resolved",
        })
        .collect()
}

fn is_lock(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with("-lock.yaml")
}

fn origin(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let value = KEYS.iter().find_map(|key| line.strip_prefix(key))?;
    Some(value.trim().trim_end_matches(',').trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, lines: &[usize]) {
        let found = check(path, text);
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn the_public_index_passes() {
        let text = format!("name = \"a\"\nsource = \"{STANDARD}\"\n");
        check_text("Cargo.lock", &text, &[]);
    }

    #[test]
    fn other_sources_are_found() {
        let text = "name = \"a\"\nsource = \"sparse+https://mirror.example/index/\"\n";
        check_text("Cargo.lock", text, &[2]);
        check_text("crates/a/fuzz/Cargo.lock", text, &[2]);
        check_text("src/lib.rs", text, &[]);
        let npm = "{\n  \"resolved\": \"https://mirror.example/a.tgz\",\n}";
        check_text("conformance/package-lock.json", npm, &[2]);
    }
}
