//! A reader for compact JSON: no whitespace, and the expected members.
//!
//! For shapes that arrive again and again. The expected text is compared, not
//! parsed; anything else is left to the [decoder](crate::jsonrpc::decode()), which
//! accepts everything and reports what is wrong.

use super::unescape;

/// A position in a JSON text.
pub(crate) struct CompactReader<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> CompactReader<'a> {
    /// Creates a reader at the start of a text.
    pub(crate) fn new(json: &'a str) -> Self {
        Self { json, at: 0 }
    }

    /// Skips `expected` if it comes next; returns whether it did.
    #[inline]
    pub(crate) fn skip_if(&mut self, expected: &str) -> bool {
        let rest = &self.json.as_bytes()[self.at..];
        let found = rest.starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    /// As [`skip_if`](Self::skip_if), for use with `?`.
    #[inline]
    pub(crate) fn expect(&mut self, expected: &str) -> Option<()> {
        self.skip_if(expected).then_some(())
    }

    /// Reads the next string, if it is valid.
    pub(crate) fn string(&mut self) -> Option<String> {
        self.expect("\"")?;
        let (string, end) = unescape::string(self.json, self.at)?;
        self.at = end;
        Some(string.into_owned())
    }

    /// Returns whether nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.json.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whatever follows the string must be the next thing to read.
    fn read(json: &str) -> Option<String> {
        let followed = format!("{json}]");
        let mut compact = CompactReader::new(&followed);
        let text = compact.string()?;
        (compact.skip_if("]") && compact.is_at_end()).then_some(text)
    }

    #[test]
    fn what_is_not_expected_is_left_alone() {
        let mut compact = CompactReader::new(r#"{"a":1}"#);
        assert!(!compact.skip_if(r#"{"b":"#));
        assert!(compact.skip_if(r#"{"a":"#));
        assert_eq!(compact.string(), None, "a number");
        assert!(!compact.skip_if("1}}"), "more than there is");
        assert!(!compact.is_at_end());
        assert!(compact.skip_if("1}"));
        assert!(compact.is_at_end());
        assert_eq!(compact.expect("}"), None);
    }

    #[test]
    fn only_whole_strings_are_strings() {
        for open in [
            r#"""#, r#""a"#, r#""a\""#, r#""\"#, "\"a\nb\"", r#""\x""#, "",
        ] {
            assert_eq!(CompactReader::new(open).string(), None, "{open}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn strings_are_what_the_decoder_says(text in "[a\"\\\\\n\u{1}ä€😀]{0,3}[ -~]{0,200}") {
            let json = serde_json::to_string(&text).expect("a string");
            prop_assert_eq!(read(&json), Some(text));
        }

        #[test]
        fn so_is_what_is_none(inner in "[a\"\\\\nu0d8\n]{0,9}[ -~]{0,80}") {
            let json = format!("\"{inner}\"");
            let theirs = serde_json::from_str::<String>(&json).ok();
            prop_assert_eq!(read(&json), theirs);
        }
    }
}
