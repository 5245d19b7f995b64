//! Rule: lock files name no package registry except the public one.
//!
//! A lock file written with a mirror contains the mirror's address, which others
//! may be unable to reach. Cargo's lock file has one standard source; npm can
//! write a lock file without addresses.

use super::Violation;

const PUBLIC_INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The beginnings of lines that state the source of a package.
const KEYS: &[&str] = &["source = ", "\"resolved\":", "resolved "];

pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !is_lock(path) {
        return Vec::new();
    }
    text.lines()
        .enumerate()
        .filter_map(|(number, line)| Some((number + 1, package_source(line)?)))
        .filter(|(_, package_source)| *package_source != PUBLIC_INDEX)
        .map(|(line, _)| Violation {
            path: path.into(),
            line,
            message: "the source of a package is not the public registry".into(),
            remedy: "for cargo, use the public index; for npm, set omit-lockfile-registry-resolved",
        })
        .collect()
}

fn is_lock(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with("-lock.yaml")
}

fn package_source(line: &str) -> Option<&str> {
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
        let text = format!("name = \"a\"\nsource = \"{PUBLIC_INDEX}\"\n");
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
