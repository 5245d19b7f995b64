//! Rule: no function in `src` is longer than 60 lines.
//!
//! Long functions hide state in local variables and attract the next special
//! case. A function that is a long table may stay, with a comment above it:
//! `// tidy: long table, <reason>`. Tests may be long.

use super::{
    Source, Violation,
    source::{is_name_byte, item_end},
};

const MAX_LINES: usize = 60;
const OPT_OUT: &str = "// tidy: long table,";

pub fn check(source: &Source<'_>) -> Vec<Violation> {
    if !source.path.split('/').any(|part| part == "src") {
        return Vec::new();
    }
    source
        .find("fn")
        .into_iter()
        .filter(|&offset| !source.is_test(offset))
        .filter_map(|offset| check_function(source, offset))
        .collect()
}

fn check_function(source: &Source<'_>, offset: usize) -> Option<Violation> {
    let name = name(&source.code[offset + "fn".len()..])?;
    let first = source.line(offset);
    let last = source.line(item_end(&source.code, offset) - 1);
    let lines = last - first + 1;
    (lines > MAX_LINES && !opts_out(source.text, first)).then(|| Violation {
        path: source.path.into(),
        line: first,
        message: format!("function `{name}` has {lines} lines; at most {MAX_LINES} are allowed"),
        remedy: "split it, or give the reason in `// tidy: long table, <reason>` above it",
    })
}

/// The function's name, or `None` if `fn` begins a pointer type.
fn name(after: &str) -> Option<&str> {
    let after = after.trim_start();
    let length = after
        .bytes()
        .take_while(|&byte| is_name_byte(byte) || byte == b'$' || byte == b'#')
        .count();
    (length > 0).then(|| &after[..length])
}

/// Returns whether a comment directly above the line allows a long function.
fn opts_out(text: &str, line: usize) -> bool {
    let above: Vec<&str> = text.lines().take(line - 1).collect();
    above
        .into_iter()
        .rev()
        .map(str::trim)
        .take_while(|above| above.starts_with("//") || above.starts_with("#["))
        .filter_map(|above| above.strip_prefix(OPT_OUT))
        .any(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn f() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    #[track_caller]
    fn check_text(path: &str, text: &str, lines: &[usize]) {
        let found = check(&Source::new(path, text));
        assert_eq!(found.iter().map(|v| v.line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        check_text(PATH, &function(60), &[]);
        check_text(PATH, &format!("//! A.\n{}", function(61)), &[2]);
    }

    #[test]
    fn functions_are_counted_separately() {
        check_text(PATH, &function(40).repeat(3), &[]);
        check_text(PATH, &format!("{}{}", function(61), function(61)), &[1, 62]);
    }

    #[test]
    fn braces_in_strings_and_comments_do_not_count() {
        let text = "fn f() {\n    \"{\"; '{'; // {\n}\n";
        check_text(PATH, &format!("{text}{}", "\n".repeat(80)), &[]);
    }

    #[test]
    fn declarations_and_pointers_are_short() {
        let text = "trait T { fn f(x: [u8; 4]); }\ntype P = fn() -> u8;\n";
        check_text(PATH, &format!("{text}{}", "\n".repeat(80)), &[]);
    }

    #[test]
    fn a_table_may_opt_out_with_a_reason() {
        let long = function(61);
        check_text(
            PATH,
            &format!("// tidy: long table, one arm per state\n{long}"),
            &[],
        );
        check_text(
            PATH,
            &format!("// tidy: long table, one arm per state\n/// Docs.\n#[must_use]\n{long}"),
            &[],
        );
        check_text(PATH, &format!("// tidy: long table,\n{long}"), &[2]);
        check_text(
            PATH,
            &format!("// tidy: long table, far off\n\n{long}"),
            &[3],
        );
    }

    #[test]
    fn tests_may_be_long() {
        check_text("crates/a/tests/it/main.rs", &function(61), &[]);
        check_text(
            PATH,
            &format!("#[cfg(test)]\nmod tests {{ {} }}", function(61)),
            &[],
        );
    }
}
