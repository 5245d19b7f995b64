//! Rule: protocol revisions are named only in `revision/`.
//!
//! A comparison such as "newer than June 2025" in a handler is correct until the
//! next revision, and then wrong in a dozen files. So each revision is a set of
//! rules, and other code reads the rules. Tests, benchmarks, fuzz targets and
//! examples choose a revision to run on, as users do, so they may name it.

use super::{Source, Violation};

const FOLDER: &str = "crates/bowline-proto/src/revision/";

pub fn check(source: &Source<'_>) -> Vec<Violation> {
    if source.path.starts_with(FOLDER) {
        return Vec::new();
    }
    source
        .code
        .match_indices("Revision::")
        .filter(|&(offset, _)| names_a_revision(&source.code[offset..]))
        .filter(|&(offset, _)| !source.is_test(offset))
        .map(|(offset, _)| Violation {
            path: source.path.into(),
            line: source.line(offset),
            message: "names a protocol revision".into(),
            remedy: "read a field of the revision's rules; add one if necessary",
        })
        .collect()
}

/// Returns whether the code is `Revision::V…`, or an import of such names.
fn names_a_revision(code: &str) -> bool {
    let after = &code["Revision::".len()..];
    after.starts_with(['V', '{', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lines(path: &str, text: &str, lines: &[usize]) {
        let found = check(&Source::new(path, text));
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn names_outside_the_folder_are_found() {
        let text = "\nif revision == Revision::V2025_06_18 {}\nuse crate::Revision::*;";
        check_lines("crates/bowline-proto/src/client/mod.rs", text, &[2, 3]);
        check_lines("crates/bowline/src/lib.rs", text, &[2, 3]);
    }

    #[test]
    fn names_in_the_folder_and_in_tests_pass() {
        let text = "Revision::V2025_06_18";
        check_lines("crates/bowline-proto/src/revision/mod.rs", text, &[]);
        check_lines("crates/bowline-proto/tests/it/main.rs", text, &[]);
        check_lines("crates/bowline-proto/fuzz/fuzz_targets/a.rs", text, &[]);
        check_lines("crates/bowline-proto/benches/a.rs", text, &[]);
        let inline = "#[cfg(test)]\nmod tests { const A: Revision = Revision::V2025_06_18; }";
        check_lines("crates/bowline-proto/src/client/mod.rs", inline, &[]);
    }

    #[test]
    fn other_uses_of_the_type_pass() {
        let text = "Revision::parse(text); // not Revision::V2025_06_18\n\"Revision::V\"";
        check_lines("crates/bowline-proto/src/client/mod.rs", text, &[]);
    }
}
