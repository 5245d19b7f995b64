//! A reader for Rust sources that knows just enough: which bytes are code.
//!
//! Rules look for words. A word in a comment or in a string is not code, so
//! this reader blanks those out and keeps every byte offset and line as it
//! was. It is not a parser, and that is the point: it has no opinion on
//! syntax that a later edition may change.

use std::ops::Range;

/// A Rust file, as it stands and with everything but code blanked out.
pub struct Source<'a> {
    /// The path from the top of the repository, with forward slashes.
    pub path: &'a str,
    pub text: &'a str,
    /// As long as `text`: comments, strings and char literals are spaces here.
    pub code: String,
    tests: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Self {
        let code = blank(text);
        let tests = test_items(&code);
        Self {
            path,
            text,
            code,
            tests,
        }
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        line(self.text, offset)
    }

    /// Whether the file as a whole is a test, a benchmark, a fuzz target or an example.
    pub fn is_test_file(&self) -> bool {
        self.path
            .split('/')
            .any(|part| matches!(part, "tests" | "tests.rs" | "benches" | "fuzz" | "examples"))
    }

    /// Whether the offset lies in a test file or below a `#[cfg(test)]`.
    pub fn is_test(&self, offset: usize) -> bool {
        self.is_test_file() || self.tests.iter().any(|range| range.contains(&offset))
    }

    /// Where `word` stands in the code and is not part of a longer name.
    pub fn find(&self, word: &str) -> Vec<usize> {
        self.code
            .match_indices(word)
            .map(|(offset, _)| offset)
            .filter(|&offset| stands_alone(&self.code, offset, word))
            .collect()
    }
}

/// The line of a byte offset in any text, counted from 1.
pub fn line(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// Whether a byte can be part of a name.
pub fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The offset after the bracket that closes the one at `open`, or the end of the code.
pub fn closing(code: &str, open: usize) -> usize {
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

/// The end of the item that starts at `start`: after its body, or after its semicolon.
pub fn item_end(code: &str, start: usize) -> usize {
    let mut offset = start;
    while let Some(&byte) = code.as_bytes().get(offset) {
        match byte {
            b'{' => return closing(code, offset),
            b';' => return offset + 1,
            b'(' | b'[' => offset = closing(code, offset),
            _ => offset += 1,
        }
    }
    code.len()
}

fn stands_alone(code: &str, offset: usize, word: &str) -> bool {
    let bytes = code.as_bytes();
    let starts = !is_name(word.as_bytes()[0]) || offset == 0 || !is_name(bytes[offset - 1]);
    let end = offset + word.len();
    let ends = !is_name(bytes[end - 1]) || bytes.get(end).is_none_or(|&byte| !is_name(byte));
    starts && ends
}

fn test_items(code: &str) -> Vec<Range<usize>> {
    const MARK: &str = "#[cfg(test)]";
    code.match_indices(MARK)
        .map(|(start, _)| start..item_end(code, start + MARK.len()))
        .collect()
}

/// Replaces comments, strings and char literals with spaces, byte for byte.
fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut offset = 0;
    while offset < text.len() {
        let rest = &text[offset..];
        let after_name = text[..offset].bytes().next_back().is_some_and(is_name);
        let length = not_code(rest, after_name);
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

/// How many bytes of comment or literal `rest` starts with.
fn not_code(rest: &str, after_name: bool) -> usize {
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

/// A plain string; its prefix (`b`, `c`), if any, has passed as code already.
fn string(rest: &str) -> usize {
    quoted(rest, b'"').unwrap_or(rest.len())
}

/// A char literal, or nothing where the quote begins a lifetime.
fn char_literal(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => quoted(rest, b'\'').unwrap_or(0),
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 0,
    }
}

/// The length up to the closing quote, escapes skipped.
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
        let code = blank(text);
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
    fn words_stand_alone() {
        let source = Source::new("a.rs", "fn fnord() { my_fn(); }");
        assert_eq!(source.find("fn"), [0]);
    }

    #[test]
    fn test_modules_are_known() {
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
