//! Rust sources, with comments and literals separated from code.
//!
//! Rules search for words. A word in a comment or a string is not code, so both
//! are replaced by spaces, which keeps all byte offsets and line numbers. This is
//! not a parser, so a new edition's syntax does not break it.

use std::ops::Range;

/// A Rust file, as it is and with everything except code replaced by spaces.
pub struct Source<'a> {
    /// The path from the root of the repository, with forward slashes.
    pub path: &'a str,
    pub text: &'a str,
    /// The text with spaces in place of comments, strings and char literals. It has
    /// the same length.
    pub code: String,
    test_ranges: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Self {
        let code = blank_non_code(text);
        let test_ranges = test_items(&code);
        Self {
            path,
            text,
            code,
            test_ranges,
        }
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        line(self.text, offset)
    }

    /// Returns whether the file is a test, a benchmark, a fuzz target or an example.
    pub fn is_test_file(&self) -> bool {
        self.path
            .split('/')
            .any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz" | "examples"))
    }

    /// Returns whether the offset is in a test file or in a `#[cfg(test)]` item.
    pub fn is_test(&self, offset: usize) -> bool {
        self.is_test_file() || self.test_ranges.iter().any(|range| range.contains(&offset))
    }

    /// The offsets at which `word` occurs in the code as a whole word.
    pub fn find(&self, word: &str) -> Vec<usize> {
        self.code
            .match_indices(word)
            .map(|(offset, _)| offset)
            .filter(|&offset| is_whole_word(&self.code, offset, word))
            .collect()
    }
}

/// The line of a byte offset in a string, counted from 1.
pub fn line(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// Returns whether a byte can be part of a name.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The offset after the bracket that closes the one at `open`, or the end of the code.
pub fn after_closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return offset + 1;
        }
    }
    code.len()
}

/// The offset after the item that starts at `start`, which ends with its body or a
/// semicolon.
pub fn item_end(code: &str, start: usize) -> usize {
    let mut offset = start;
    while let Some(&byte) = code.as_bytes().get(offset) {
        match byte {
            b'{' => return after_closing(code, offset),
            b';' => return offset + 1,
            b'(' | b'[' => offset = after_closing(code, offset),
            _ => offset += 1,
        }
    }
    code.len()
}

fn is_whole_word(code: &str, offset: usize, word: &str) -> bool {
    let bytes = code.as_bytes();
    let starts =
        !is_name_byte(word.as_bytes()[0]) || offset == 0 || !is_name_byte(bytes[offset - 1]);
    let end = offset + word.len();
    let ends =
        !is_name_byte(bytes[end - 1]) || bytes.get(end).is_none_or(|&byte| !is_name_byte(byte));
    starts && ends
}

fn test_items(code: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    code.match_indices(MARK)
        .map(|(start, _)| start..item_end(code, start + MARK.len()))
        .collect()
}

/// Replaces comments, strings and char literals with spaces, byte for byte.
fn blank_non_code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut offset = 0;
    while offset < text.len() {
        let rest = &text[offset..];
        let after_name = text[..offset].bytes().next_back().is_some_and(is_name_byte);
        let length = non_code_length(rest, after_name);
        if length > 0 {
            code.extend(rest[..length].bytes().map(|byte| match byte {
                b'\n' => '\n',
                _ => ' ',
            }));
            offset += length;
        } else {
            let next = rest.chars().next().unwrap_or(' ');
            code.push(next);
            offset += next.len_utf8();
        }
    }
    code
}

/// The length in bytes of the comment or literal at the start of `rest`, or 0.
fn non_code_length(rest: &str, after_name: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if rest.starts_with('"') {
        return string(rest);
    }
    if rest.starts_with('\'') {
        return char_literal(rest);
    }
    if after_name {
        return 0;
    }
    raw_string(rest)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut offset) = (0_usize, 0);
    while offset < rest.len() {
        let pair = rest.as_bytes().get(offset..offset + 2).unwrap_or_default();
        match pair {
            b"/*" => (depth, offset) = (depth + 1, offset + 2),
            b"*/" => (depth, offset) = (depth - 1, offset + 2),
            _ => offset += 1,
        }
        if depth == 0 {
            return offset;
        }
    }
    rest.len()
}

/// The length of a string. A prefix (`b`, `c`) is treated as code.
fn string(rest: &str) -> usize {
    quoted(rest, b'"').unwrap_or(rest.len())
}

/// The length of a char literal, or 0 if the quote begins a lifetime.
fn char_literal(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => quoted(rest, b'\'').unwrap_or(0),
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 0,
    }
}

/// The length up to and including the closing quote, ignoring escaped quotes.
fn quoted(rest: &str, quote: u8) -> Option<usize> {
    let mut escaped = false;
    for (offset, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return Some(offset + 1),
            _ => {}
        }
    }
    None
}

fn raw_string(rest: &str) -> usize {
    let prefix = ["r", "br", "cr"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix) && rest[prefix.len()..].starts_with(['#', '"']));
    let Some(prefix) = prefix else { return 0 };
    let after = &rest[prefix.len()..];
    let hashes = after.bytes().take_while(|&byte| byte == b'#').count();
    if !after[hashes..].starts_with('"') {
        return 0; // a raw name such as `r#type`
    }
    let open = prefix.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    rest[open..]
        .find(&close)
        .map_or(rest.len(), |end| open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &str) {
        let code = blank_non_code(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code.lines().count(), text.lines().count());
        let seen: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(seen.join(" "), words);
    }

    #[test]
    fn comments_are_not_code() {
        check("a // b { \"\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("/// it's `here`\nfn f() {}", "fn f() {}");
    }

    #[test]
    fn strings_are_not_code() {
        check(r#"a("{ \" // }") b"#, "a( ) b");
        check("a r#\"{ \" \"# b", "a b");
        check("b\"{\" c\"{\" br\"{\" d", "b c d");
        check("let r#type = r\"\\\"; x", "let r#type = ; x");
        check("\"two\nlines\" x", "x");
    }

    #[test]
    fn chars_are_not_code_and_lifetimes_are() {
        check("'{' a '\\'' b '\"' c '\\u{7b}' d 'é' e", "a b c d e");
        check(
            "fn f<'a>(x: &'a str) -> &'static str",
            "fn f<'a>(x: &'a str) -> &'static str",
        );
    }

    #[test]
    fn only_whole_words_are_found() {
        let source = Source::new("a.rs", "fn fnord() { my_fn(); }");
        assert_eq!(source.find("fn"), [0]);
    }

    #[test]
    fn test_modules_are_recognised() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}";
        let source = Source::new("crates/x/src/a.rs", text);
        let is_test = |word| source.is_test(text.find(word).unwrap());
        assert!(!is_test("a()"));
        assert!(is_test("b()"));
        assert!(!is_test("c()"));
        assert!(Source::new("crates/x/tests/it/a.rs", text).is_test(0));
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line("a\nb\nc", 0), 1);
        assert_eq!(line("a\nb\nc", 4), 3);
    }
}
