//! URI patterns: matching a URI and extracting its variables.
//!
//! Of RFC 6570, two expressions are supported: `{name}`, which matches anything
//! up to the next `/`, `?` or `#`, and `{+name}`, which may contain these too.
//! The other operators can expand URIs, but do not define how to parse them.

use super::Variables;

/// The maximum length of a URI that is matched.
const MAX_URI_BYTES: usize = 16 * 1024;

/// A parsed URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UriPattern {
    parts: Vec<PatternPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    Literal(String),
    Variable {
        name: String,
        /// Whether the value may contain `/`, `?` and `#` unencoded.
        allows_slashes: bool,
    },
}

impl UriPattern {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a URI template, or uses operators that are
    /// not supported.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let (literal, expression) = match rest.split_once('{') {
                Some((literal, after)) => (literal, Some(after)),
                None => (rest, None),
            };
            if literal.contains('}') {
                return Err("unmatched `}`".to_owned());
            }
            if !literal.is_empty() {
                parts.push(PatternPart::Literal(literal.to_owned()));
            }
            let Some(expression) = expression else { break };
            let (expression, after) = expression.split_once('}').ok_or("unmatched `{`")?;
            if matches!(parts.last(), Some(PatternPart::Variable { .. })) {
                let why = "adjacent variables are ambiguous: put a separator between them";
                return Err(why.to_owned());
            }
            parts.push(PatternPart::variable(expression)?);
            rest = after;
        }
        let pattern = Self { parts };
        pattern.check_names()?;
        Ok(pattern)
    }

    /// Returns a pattern that matches nothing, for an invalid template.
    pub(super) fn match_nothing() -> Self {
        Self { parts: Vec::new() }
    }

    /// Returns the names of the variables, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Variable { name, .. } => Some(name.as_str()),
            PatternPart::Literal(_) => None,
        })
    }

    /// Returns the decoded variables of a URI that matches. If there are
    /// several ways to match, earlier variables are as short as possible.
    pub(crate) fn parse_uri(&self, uri: &str) -> Option<Variables> {
        if uri.len() > MAX_URI_BYTES || self.parts.is_empty() {
            return None;
        }
        let suffix_table = self.suffix_matches(uri.as_bytes());
        let mut position = 0;
        let mut variables = Variables::default();
        for (index, part) in self.parts.iter().enumerate() {
            if !suffix_table[index][position] {
                return None;
            }
            match part {
                PatternPart::Literal(literal) => position += literal.len(),
                PatternPart::Variable { name, .. } => {
                    let end =
                        (position + 1..=uri.len()).find(|&end| suffix_table[index + 1][end])?;
                    variables.insert(name, percent_decode(uri.get(position..end)?)?);
                    position = end;
                }
            }
        }
        Some(variables)
    }

    /// Returns, for each part and each byte of the URI, whether the parts from
    /// there on match the rest. Takes one pass for each part, whatever the URI
    /// is: a client must not be able to make this slow.
    fn suffix_matches(&self, uri: &[u8]) -> Vec<Vec<bool>> {
        let mut table = vec![vec![false; uri.len() + 2]; self.parts.len() + 1];
        table[self.parts.len()][uri.len()] = true;
        for (index, part) in self.parts.iter().enumerate().rev() {
            for position in (0..uri.len()).rev() {
                table[index][position] = match part {
                    PatternPart::Literal(literal) => {
                        uri[position..].starts_with(literal.as_bytes())
                            && table[index + 1][position + literal.len()]
                    }
                    PatternPart::Variable { allows_slashes, .. } => {
                        (*allows_slashes || !b"/?#".contains(&uri[position]))
                            && (table[index + 1][position + 1] || table[index][position + 1])
                    }
                };
            }
        }
        table
    }

    fn check_names(&self) -> Result<(), String> {
        let mut names: Vec<&str> = self.names().collect();
        if names.is_empty() {
            return Err("it has no variables: use a resource instead of a template".to_owned());
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(format!("duplicate variable {:?}", twice[0])),
            None => Ok(()),
        }
    }
}

impl PatternPart {
    fn variable(expression: &str) -> Result<Self, String> {
        let (allows_slashes, name) = match expression.strip_prefix('+') {
            Some(name) => (true, name),
            None => (false, expression),
        };
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        if name.is_empty() || !name.bytes().all(is_name_byte) {
            return Err(format!(
                "`{{{expression}}}` is not supported: use `{{name}}`, or `{{+name}}` \
                 if the value may contain slashes"
            ));
        }
        let name = name.to_owned();
        Ok(Self::Variable {
            name,
            allows_slashes,
        })
    }
}

/// Percent-decodes a string. Returns `None` if the encoding is invalid or the
/// result is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(hex_digit(digits[0])? << 4 | hex_digit(digits[1])?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let pattern = UriPattern::parse(template).unwrap();
        let read = pattern.parse_uri(uri);
        let read: Option<Vec<_>> = read.as_ref().map(|variables| variables.iter().collect());
        assert_eq!(read.as_deref(), expected, "{uri} as {template}");
    }

    #[test]
    fn variables_are_found_between_what_is_fixed() {
        check("t://a/{id}/data", "t://a/123/data", Some(&[("id", "123")]));
        check(
            "t://{x}-{y}",
            "t://1-2-3",
            Some(&[("x", "1"), ("y", "2-3")]),
        );
        check("t://{x}.json", "t://a.json.json", Some(&[("x", "a.json")]));
        check(
            "t://s?q={q}&l={lang}",
            "t://s?q=a&l=b",
            Some(&[("lang", "b"), ("q", "a")]),
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for uri in [
            "t://a//data",
            "t://a/1/2/data",
            "t://a/1/data/",
            "u://a/1/data",
            "",
        ] {
            check("t://a/{id}/data", uri, None);
        }
        check("t://{id}", "t://a?b", None);
        check(
            "t://{id}",
            &format!("t://{}", "a".repeat(MAX_URI_BYTES)),
            None,
        );
    }

    #[test]
    fn open_variables_hold_slashes_and_leave_room_for_others() {
        check("f:///{+path}", "f:///a/b?c#d", Some(&[("path", "a/b?c#d")]));
        check(
            "f:///{+folder}/{name}",
            "f:///a/b/c",
            Some(&[("folder", "a/b"), ("name", "c")]),
        );
        check(
            "f:///{+path}-{id}",
            "f:///a-b/c-d",
            Some(&[("id", "d"), ("path", "a-b/c")]),
        );
    }

    #[test]
    fn values_are_decoded_and_broken_ones_refused() {
        check("t://{id}", "t://a%20b%2Fc", Some(&[("id", "a b/c")]));
        check("t://{id}", "t://%C3%A9é", Some(&[("id", "éé")]));
        for broken in ["t://%", "t://%4", "t://%zz", "t://%+1", "t://%ff"] {
            check("t://{id}", broken, None);
        }
    }

    #[test]
    fn what_is_not_understood_says_so() {
        for (template, why) in [
            ("t://a", "it has no variables"),
            ("t://{a", "unmatched `{`"),
            ("t://a}", "unmatched `}`"),
            ("t://{a}{b}", "adjacent variables are ambiguous"),
            ("t://{a}/{a}", "duplicate variable"),
            ("t://{?q,r}", "`{?q,r}` is not supported"),
            ("t://{a*}", "`{a*}` is not supported"),
            ("t://{}", "`{}` is not supported"),
        ] {
            let error = UriPattern::parse(template).unwrap_err();
            assert!(error.contains(why), "{template}: {error}");
        }
    }

    #[test]
    fn hostile_uris_take_no_longer_than_others() {
        let pattern = UriPattern::parse("t://{+x}-{+y}-{+z}!").unwrap();
        assert_eq!(
            pattern.parse_uri(&format!("t://{}", "-".repeat(10_000))),
            None
        );
    }
}
