//! A canonical form of JSON: one text for all spellings of the same value.
//!
//! The JSON is never parsed into values: these cannot represent numbers beyond a
//! double, nor unpaired surrogates, and different inputs could become equal.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// The maximum nesting depth, so no input overflows the stack.
const MAX_DEPTH: u32 = 128;

/// Returns the canonical text of `json`: without white space, with the members of every
/// object sorted, and each string and number written in one way. Equal results have equal
/// values. Text that is not JSON, or is nested too deep, is returned unchanged.
pub(crate) fn canonicalize(json: &[u8]) -> Cow<'_, [u8]> {
    let is_json = serde_json::from_slice::<&RawValue>(json).is_ok();
    let mut writer = Canonicalizer {
        rest: json,
        out: Vec::with_capacity(json.len()),
        members: Vec::new(),
        sorted: Vec::new(),
    };
    let written = is_json && writer.value(0).is_some() && writer.next().is_none();
    match written {
        true => Cow::Owned(writer.out),
        false => Cow::Borrowed(json),
    }
}

/// Rewrites valid JSON from left to right. One output buffer serves all nested values.
struct Canonicalizer<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    /// The members of the objects being written, those of the innermost object last.
    members: Vec<Member>,
    /// Scratch space for sorting the members of one object.
    sorted: Vec<u8>,
}

/// The position of a member in the output: its name, up to its value, and the whole
/// member.
#[derive(Clone, Copy)]
struct Member {
    start: usize,
    name_end: usize,
    end: usize,
}

impl<'a> Canonicalizer<'a> {
    /// Returns the next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn expect(&mut self, expected: u8) -> Option<()> {
        if self.next() != Some(expected) {
            return None;
        }
        self.rest = &self.rest[1..];
        Some(())
    }

    /// Consumes the next `len` bytes.
    fn token(&mut self, len: usize) -> Option<&'a [u8]> {
        let (token, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(token)
    }

    fn value(&mut self, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.next()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                let len = self.rest.iter().take_while(|it| it.is_ascii_alphabetic());
                let len = len.count();
                let literal = self.token(len)?;
                self.out.extend_from_slice(literal);
                Some(())
            }
        }
    }

    fn object(&mut self, depth: u32) -> Option<()> {
        self.expect(b'{')?;
        self.out.push(b'{');
        let (content_start, first) = (self.out.len(), self.members.len());
        while self.next()? != b'}' {
            if self.members.len() > first {
                self.out.push(b',');
            }
            let start = self.out.len();
            self.string()?;
            let name_end = self.out.len();
            self.expect(b':')?;
            self.out.push(b':');
            self.value(depth + 1)?;
            self.members.push(Member {
                start,
                name_end,
                end: self.out.len(),
            });
            if self.next()? == b',' {
                self.expect(b',')?;
            }
        }
        self.expect(b'}')?;
        self.sort(content_start, first);
        self.members.truncate(first);
        self.out.push(b'}');
        Some(())
    }

    /// Sorts the members from `first` on, which are written from `content_start` on, by
    /// name. Members of the same name keep their order, which may matter.
    fn sort(&mut self, content_start: usize, first: usize) {
        let (out, members) = (&mut self.out, &mut self.members[first..]);
        let name = |member: &Member| &out[member.start..member.name_end];
        if members.is_sorted_by(|one, other| name(one) <= name(other)) {
            return;
        }
        members.sort_by(|one, other| name(one).cmp(name(other)));
        self.sorted.clear();
        for member in members {
            if !self.sorted.is_empty() {
                self.sorted.push(b',');
            }
            self.sorted
                .extend_from_slice(&out[member.start..member.end]);
        }
        out.truncate(content_start);
        out.extend_from_slice(&self.sorted);
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        self.expect(b'[')?;
        self.out.push(b'[');
        let mut is_first = true;
        while self.next()? != b']' {
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.value(depth + 1)?;
            if self.next()? == b',' {
                self.expect(b',')?;
            }
        }
        self.expect(b']')?;
        self.out.push(b']');
        Some(())
    }

    /// Writes a string. One with an unpaired surrogate has no value and stays as it is
    /// written.
    fn string(&mut self) -> Option<()> {
        if self.next() != Some(b'"') {
            return None;
        }
        let (mut end, mut escaped) = (1, false);
        loop {
            match self.rest.get(end)? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        let token = self.token(end + 1)?;
        // A string without escapes has only one spelling.
        let text = escaped.then(|| serde_json::from_slice::<String>(token));
        match text {
            Some(Ok(text)) => serde_json::to_writer(&mut self.out, &text).ok(),
            _ => {
                self.out.extend_from_slice(token);
                Some(())
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let is_number_byte =
            |it: &&u8| matches!(it, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let len = self.rest.iter().take_while(is_number_byte).count();
        let token = self.token(len)?;
        match decimal(token) {
            Some(text) => self.out.extend(text),
            None => self.out.extend_from_slice(token),
        }
        Some(())
    }
}

/// Returns a number as its digits, without leading or trailing zeros, and a power of
/// ten: exact, however large it is. `None` if the exponent does not fit an `i64`.
fn decimal(token: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(token).ok()?;
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(b"0".to_vec());
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = power.checked_sub(fraction)?.checked_add(zeros)?;
    let sign = if negative { "-" } else { "" };
    Some(
        match power {
            0 => format!("{sign}{significant}"),
            power => format!("{sign}{significant}e{power}"),
        }
        .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn canonical(text: &str) -> String {
        String::from_utf8(canonicalize(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn order_and_space_do_not_matter() {
        let one = canonical(r#" {"b": [1, {"y": null, "x": "\u0041"}], "a": 2} "#);
        let other = canonical(r#"{"a":2,"b":[1,{"x":"A","y":null}]}"#);
        assert_eq!(one, other);
        assert_eq!(one, r#"{"a":2,"b":[1,{"x":"A","y":null}]}"#);
    }

    #[test]
    fn the_order_of_items_matters() {
        assert_ne!(canonical("[1,2]"), canonical("[2,1]"));
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(canonical(r#"{"a\"b":1}"#), r#"{"a\"b":1}"#);
    }

    #[test]
    fn numbers_are_equal_if_they_are_equal_to_the_last_digit() {
        for same in [
            ["1", "1.0"],
            ["100", "1e2"],
            ["0.10", "1E-1"],
            ["-0.0", "0"],
        ] {
            assert_eq!(canonical(same[0]), canonical(same[1]));
        }
        let large = "18446744073709551616";
        for other in ["18446744073709551617", "-18446744073709551616", "1e400"] {
            assert_ne!(canonical(large), canonical(other));
        }
        assert_eq!(
            canonical("1e99999999999999999999"),
            "1e99999999999999999999"
        );
    }

    #[test]
    fn what_has_no_value_still_differs() {
        let pen = canonical(r#"{"item":"pen","x":1e400}"#);
        assert_ne!(pen, canonical(r#"{"item":"car","x":1e400}"#));
        assert_eq!(pen, canonical(r#"{"x":1e400, "item":"pen"}"#));
        let lone = canonical(r#"{"item":"pen","x":"\ud800"}"#);
        assert_ne!(lone, canonical(r#"{"item":"car","x":"\ud800"}"#));
    }

    #[test]
    fn what_is_no_json_or_too_deep_stays_as_it_is() {
        for text in ["{\"a\":1", "{} {}", "", "[1,]"] {
            assert_eq!(canonical(text), text);
        }
        let deep = format!("{}{}", "[ ".repeat(100_000), "]".repeat(100_000));
        assert_eq!(canonical(&deep), deep);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            // Such as survive being read as a double.
            any::<i32>().prop_map(Value::from),
            (-1e6..1e6_f64).prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_text_has_the_same_value_and_is_its_own_canonical_text(value in json()) {
            let text = canonical(&serde_json::to_string_pretty(&value).unwrap());
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&text), text.clone());
            prop_assert_eq!(canonical(&read.to_string()), text);
        }

        #[test]
        fn nothing_panics(text in "[\\[\\]{}\",:0-9eE+. \\\\u-]{0,40}") {
            canonical(&text);
        }
    }
}
