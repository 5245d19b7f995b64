//! JSON with comments and trailing commas (JSONC), converted to JSON.

/// Blanks out comments and trailing commas.
///
/// Line breaks and byte offsets are preserved, so a position in the result is a
/// position in the file. Invalid JSON stays invalid: the parser reports it better.
pub(super) fn strip(text: &str) -> String {
    let mut stripper = Stripper {
        text,
        out: String::with_capacity(text.len()),
        last_significant: None,
        pending_comma: None,
    };
    let mut at = 0;
    while at < text.len() {
        at += stripper.step(at);
    }
    stripper.out
}

struct Stripper<'a> {
    text: &'a str,
    out: String,
    /// The last byte outside of white space and comments.
    last_significant: Option<u8>,
    /// The position of a comma that is a trailing one if the list ends next.
    pending_comma: Option<usize>,
}

impl Stripper<'_> {
    /// Processes the token that begins at `at`, and returns its length.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if let Some(length) = blank_length(rest) {
            self.push_blank(&rest[..length]);
            return length;
        }
        let length = match rest.as_bytes()[0] {
            b'"' => string_length(rest),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        self.push_token(at, &rest[..length]);
        length
    }

    /// Replaces a token with spaces, preserving line breaks.
    fn push_blank(&mut self, token: &str) {
        let spaces = token.bytes().map(|byte| match byte {
            b'\n' | b'\r' | b'\t' => char::from(byte),
            _ => ' ',
        });
        self.out.extend(spaces);
    }

    fn push_token(&mut self, at: usize, token: &str) {
        let first = token.as_bytes()[0];
        if let (b'}' | b']', Some(comma)) = (first, self.pending_comma) {
            self.out.replace_range(comma..=comma, " ");
        }
        // A comma that follows no value is not a trailing comma but an error.
        let follows_value = !matches!(
            self.last_significant,
            None | Some(b'[' | b'{' | b',' | b':')
        );
        self.pending_comma = (first == b',' && follows_value).then_some(at);
        self.last_significant = Some(first);
        self.out.push_str(token);
    }
}

/// Returns the length of the white space or comment at the start of `rest`, if there is
/// one. A byte order mark, which some editors write, counts as white space.
pub(super) fn blank_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(inner) = rest.strip_prefix("/*") {
        return inner.find("*/").map(|end| end + "/**/".len());
    }
    let first = rest.chars().next()?;
    matches!(first, ' ' | '\t' | '\r' | '\n' | '\u{feff}').then(|| first.len_utf8())
}

/// Returns the length of the string at the start of `rest`, including its quotes.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(strip(text), expected);
    }

    #[test]
    fn comments_become_spaces() {
        check("{} // end", "{}       ");
        check("{/* a\n b */}", "{    \n     }");
        check("1 /**/ 2", "1      2");
    }

    #[test]
    fn strings_are_left_alone() {
        check(r#""http://x/*y*/,]""#, r#""http://x/*y*/,]""#);
        check(r#""a\"// b""#, r#""a\"// b""#);
        check(r#""\\" // b"#, r#""\\"     "#);
    }

    #[test]
    fn trailing_commas_become_spaces() {
        check("[1, 2,]", "[1, 2 ]");
        check("{\"a\": [],\n}", "{\"a\": [] \n}");
        check("[1, // one\n]", "[1        \n]");
        check("[1, /* ] */ 2]", "[1,         2]");
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for text in [
            "[,]",
            "{,}",
            "[1,,]",
            "{\"a\":,}",
            "[1 /* open",
            "{\"a\": \"b",
            "/ 1",
        ] {
            let stripped = strip(text);
            assert!(
                serde_json::from_str::<Value>(&stripped).is_err(),
                "{stripped}"
            );
        }
    }

    #[test]
    fn a_byte_order_mark_is_blank() {
        check("\u{feff}{}", "   {}");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-z"\\/*,\]}{\[:\n é]{0,8}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-z/*\"]{0,4}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn blank() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "[ \t\r\n]{0,3}",
            r#"//[a-z"/*,\]}]{0,6}\n"#,
            r#"/\*[a-z"/,\]}\n]{0,6}\*/"#,
        ]
    }

    /// Writes a value as a person might, with `blanks` between its tokens and
    /// a comma after the last member if `trailing`.
    fn write(value: &Value, blanks: &mut impl Iterator<Item = String>, trailing: bool) -> String {
        let mut out = blanks.next().unwrap_or_default();
        let items: Vec<String> = match value {
            Value::Array(items) => items
                .iter()
                .map(|item| write(item, blanks, trailing))
                .collect(),
            Value::Object(members) => {
                let mut member = |(key, value): (&String, &Value)| {
                    let key = write(&Value::from(key.as_str()), blanks, trailing);
                    format!("{key}:{}", write(value, blanks, trailing))
                };
                members.iter().map(&mut member).collect()
            }
            scalar => {
                out.push_str(&scalar.to_string());
                out.push_str(&blanks.next().unwrap_or_default());
                return out;
            }
        };
        let (open, close) = if value.is_array() {
            ('[', ']')
        } else {
            ('{', '}')
        };
        let comma = if trailing && !items.is_empty() {
            ","
        } else {
            ""
        };
        let (inside, after) = (
            blanks.next().unwrap_or_default(),
            blanks.next().unwrap_or_default(),
        );
        out.push_str(&format!(
            "{open}{}{comma}{inside}{close}{after}",
            items.join(",")
        ));
        out
    }

    proptest! {
        #[test]
        fn what_people_write_means_what_they_meant(
            value in json(),
            blanks in prop::collection::vec(blank(), 1..40),
            trailing: bool,
        ) {
            let text = write(&value, &mut blanks.into_iter().cycle(), trailing);
            let read: Value = serde_json::from_str(&strip(&text))
                .map_err(|error| TestCaseError::fail(format!("{text:?}: {error}")))?;
            prop_assert_eq!(read, value);
        }

        #[test]
        fn json_is_left_as_it_is(value in json()) {
            let text = serde_json::to_string_pretty(&value).expect("it is JSON");
            prop_assert_eq!(strip(&text), text);
        }

        #[test]
        fn nothing_moves(text in r#"[a"\\/*,\[\]{}:\n é\u{feff}]{0,40}"#) {
            let stripped = strip(&text);
            prop_assert_eq!(stripped.len(), text.len());
            let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            prop_assert_eq!(lines(&stripped), lines(&text));
        }
    }
}
