//! `Mcp-Param-*`: the mirrored arguments of a tool, encoded and checked.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{
    HeaderField, HeaderMismatch, Headers, MismatchReason, ParamHeader, ParamHeaders, decode_value,
    encode_value,
    field::single_value,
    scalar::{KeyLookup, MAX_INTEGER, Scalar},
    schema::{Branch, Node},
};

impl ParamHeaders {
    /// Returns the headers to send with a call that has these arguments.
    ///
    /// Arguments that are null or absent have no header.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument has a value that no header can carry, or
    /// occurs twice. The server would refuse the call, so it is better not
    /// sent.
    pub fn fields<'a>(
        &'a self,
        arguments: Option<&'a [u8]>,
    ) -> Result<Vec<HeaderField<'a>>, HeaderMismatch> {
        let values = self.values(arguments)?;
        let fields = self
            .headers
            .iter()
            .zip(values)
            .filter_map(|(header, value)| {
                let text = match value? {
                    Scalar::Bool(true) => Cow::Borrowed("true"),
                    Scalar::Bool(false) => Cow::Borrowed("false"),
                    Scalar::Integer(number) => Cow::Owned(number.to_string()),
                    Scalar::String(Cow::Borrowed(text)) => encode_value(text),
                    Scalar::String(Cow::Owned(text)) => {
                        Cow::Owned(encode_value(&text).into_owned())
                    }
                    Scalar::Null | Scalar::Other => return None,
                };
                Some(HeaderField::new(&header.name, text))
            });
        Ok(fields.collect())
    }

    /// Compares the received `Mcp-Param-*` headers with a call's arguments.
    ///
    /// Integers are compared as numbers. Headers that this tool does not mirror
    /// are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if a value has no header, a header no value, or the two
    /// differ.
    pub fn check<H: Headers + ?Sized>(
        &self,
        headers: &H,
        arguments: Option<&[u8]>,
    ) -> Result<(), HeaderMismatch> {
        let values = self.values(arguments)?;
        for (header, value) in self.headers.iter().zip(values) {
            check_one(headers, header, value.as_ref())?;
        }
        Ok(())
    }

    /// Returns the value of each header, in one pass over the arguments.
    fn values<'de>(
        &self,
        arguments: Option<&'de [u8]>,
    ) -> Result<Vec<Option<Scalar<'de>>>, HeaderMismatch> {
        let mut collected = CollectedValues {
            values: vec![None; self.headers.len()],
            ambiguous: None,
        };
        if let (Some(arguments), false) = (arguments, self.is_empty()) {
            let mut json = serde_json::Deserializer::from_slice(arguments);
            let visitor = BranchVisitor {
                branch: &self.root,
                collected: &mut collected,
            };
            // Anything but an object has no such arguments; decoding the call
            // reports that.
            let _refused_elsewhere = json.deserialize_map(visitor);
        }
        let mismatch =
            |index: usize, reason| HeaderMismatch::new(&self.headers[index].name, reason);
        if let Some(index) = collected.ambiguous {
            return Err(mismatch(index, MismatchReason::Ambiguous));
        }
        let unrepresentable = collected
            .values
            .iter()
            .position(|value| *value == Some(Scalar::Other));
        match unrepresentable {
            Some(index) => Err(mismatch(index, MismatchReason::NotRepresentable)),
            None => Ok(collected.values),
        }
    }
}

fn check_one<H: Headers + ?Sized>(
    headers: &H,
    header: &ParamHeader,
    value: Option<&Scalar<'_>>,
) -> Result<(), HeaderMismatch> {
    let received = single_value(headers, &header.name)?.map(decode_value);
    let reason = match (received, value) {
        (None, None | Some(Scalar::Null)) => return Ok(()),
        (None, Some(_)) => MismatchReason::Missing,
        (Some(Err(error)), _) => MismatchReason::Malformed(error),
        (Some(Ok(_)), None | Some(Scalar::Null)) => MismatchReason::Unexpected,
        (Some(Ok(text)), Some(value)) if header_matches(&text, value) => return Ok(()),
        (Some(Ok(_)), Some(_)) => MismatchReason::Different,
    };
    Err(HeaderMismatch::new(&header.name, reason))
}

/// Returns whether a header's text represents the body's value. The type in the
/// body counts, not the declared one: a value of the wrong type is refused by
/// the schema check, with a better message.
fn header_matches(text: &str, value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Bool(value) => text == if *value { "true" } else { "false" },
        Scalar::Integer(value) => parse_integer(text) == Some(*value),
        Scalar::String(value) => text == value,
        Scalar::Null | Scalar::Other => false,
    }
}

/// Parses an integer: `42`, `042` and `42.0` are the same; `4e1`, `0x2A` and
/// `+42` are invalid.
fn parse_integer(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let decimal = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_zero = decimal(fraction) && fraction.bytes().all(|digit| digit == b'0');
    let number: i64 = whole.parse().ok()?;
    (is_zero
        && decimal(whole.strip_prefix('-').unwrap_or(whole))
        && (-MAX_INTEGER..=MAX_INTEGER).contains(&number))
    .then_some(number)
}

struct CollectedValues<'de> {
    values: Vec<Option<Scalar<'de>>>,
    /// The header whose value is ambiguous because of a repeated key.
    ambiguous: Option<usize>,
}

struct BranchVisitor<'t, 'r, 'de> {
    branch: &'t Branch,
    collected: &'r mut CollectedValues<'de>,
}

impl<'de> Visitor<'de> for BranchVisitor<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen: BTreeSet<*const Node> = BTreeSet::new();
        while let Some(node) = map.next_key_seed(KeyLookup(|key: &str| self.branch.0.get(key)))? {
            let Some(node) = node else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if !seen.insert(node) {
                self.collected.ambiguous = Some(first_leaf(node));
                return Err(A::Error::custom("a repeated key"));
            }
            map.next_value_seed(NodeSeed {
                node,
                collected: self.collected,
            })?;
        }
        Ok(())
    }

    // Anything but an object has none of the mirrored arguments.

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

struct NodeSeed<'t, 'r, 'de> {
    node: &'t Node,
    collected: &'r mut CollectedValues<'de>,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.node {
            Node::Leaf(index) => {
                self.collected.values[*index] = Some(Scalar::deserialize(deserializer)?);
                Ok(())
            }
            Node::Branch(branch) => deserializer.deserialize_any(BranchVisitor {
                branch,
                collected: self.collected,
            }),
        }
    }
}

/// A branch is only kept for the leaves below it, so there always is one.
fn first_leaf(node: &Node) -> usize {
    match node {
        Node::Leaf(index) => *index,
        Node::Branch(branch) => branch.0.values().next().map_or(0, first_leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"properties": {
        "text": {"type": "string", "x-mcp-header": "Text"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "flag": {"type": "boolean", "x-mcp-header": "Flag"},
        "in": {"properties": {"deep": {"type": "string", "x-mcp-header": "Deep"}}}}}"#;

    fn sent(arguments: &str) -> Result<Vec<(String, String)>, MismatchReason> {
        let params = ParamHeaders::from_schema(SCHEMA).unwrap();
        let fields = params
            .fields(Some(arguments.as_bytes()))
            .map_err(|m| m.reason)?;
        let pair = |f: &HeaderField<'_>| (f.name().to_owned(), f.value().to_owned());
        Ok(fields.iter().map(pair).collect())
    }

    fn check(arguments: &str, headers: &[(&str, &str)]) -> Result<(), MismatchReason> {
        let params = ParamHeaders::from_schema(SCHEMA).unwrap();
        let outcome = params.check(headers, Some(arguments.as_bytes()));
        outcome.map_err(|mismatch| mismatch.reason)
    }

    fn one(name: &str, value: &str) -> Result<Vec<(String, String)>, MismatchReason> {
        Ok(vec![(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn arguments_are_written_by_type() {
        assert_eq!(sent(r#"{"text": "a b"}"#), one("mcp-param-text", "a b"));
        assert_eq!(sent(r#"{"text": ""}"#), one("mcp-param-text", ""));
        assert_eq!(
            sent(r#"{"text": "a\r\nb"}"#),
            one("mcp-param-text", "=?base64?YQ0KYg==?=")
        );
        assert_eq!(sent(r#"{"count": 42}"#), one("mcp-param-count", "42"));
        assert_eq!(sent(r#"{"count": -7.0}"#), one("mcp-param-count", "-7"));
        assert_eq!(sent(r#"{"flag": false}"#), one("mcp-param-flag", "false"));
        assert_eq!(
            sent(r#"{"x": [1], "in": {"deep": "d"}}"#),
            one("mcp-param-deep", "d")
        );
    }

    #[test]
    fn null_and_absent_arguments_have_no_header() {
        for none in [
            r#"{"text": null, "other": "x", "in": null}"#,
            "{}",
            r#"{"in": 7}"#,
            "[]",
        ] {
            assert_eq!(sent(none), Ok(vec![]), "{none}");
            assert_eq!(check(none, &[]), Ok(()), "{none}");
        }
        let params = ParamHeaders::from_schema(SCHEMA).unwrap();
        assert_eq!(params.fields(None), Ok(vec![]));
    }

    #[test]
    fn what_no_header_can_carry_is_not_sent() {
        for bad in [
            r#"{"count": 0.5}"#,
            r#"{"count": 9007199254740992}"#,
            r#"{"text": {}}"#,
            r#"{"text": []}"#,
        ] {
            assert_eq!(sent(bad), Err(MismatchReason::NotRepresentable), "{bad}");
            assert_eq!(
                check(bad, &[]),
                Err(MismatchReason::NotRepresentable),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_value_without_header_and_a_header_without_value_are_refused() {
        let text = r#"{"text": "Hello"}"#;
        assert_eq!(check(text, &[]), Err(MismatchReason::Missing));
        let header = [("Mcp-Param-Text", "Hello")];
        assert_eq!(check(text, &header), Ok(()));
        assert_eq!(check("{}", &header), Err(MismatchReason::Unexpected));
        assert_eq!(
            check(r#"{"text": null}"#, &header),
            Err(MismatchReason::Unexpected)
        );
        assert_eq!(
            check(text, &[header[0], header[0]]),
            Err(MismatchReason::Repeated)
        );
        assert_eq!(check(text, &[header[0], ("Mcp-Param-Else", "x")]), Ok(()));
    }

    #[test]
    fn the_encodings_that_a_server_must_tell_apart() {
        let header = |value| [("mcp-param-text", value)];
        let hello = r#"{"text": "Hello"}"#;
        assert_eq!(check(hello, &header("=?base64?SGVsbG8=?=")), Ok(()));
        for bad in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="] {
            assert!(matches!(
                check(hello, &header(bad)),
                Err(MismatchReason::Malformed(_))
            ));
        }
        assert_eq!(
            check(hello, &header("SGVsbG8=")),
            Err(MismatchReason::Different)
        );
        assert_eq!(
            check(r#"{"text": "SGVsbG8="}"#, &header("SGVsbG8=")),
            Ok(())
        );
        let literal = "=?base64?SGVsbG8=";
        assert_eq!(
            check(r#"{"text": "=?base64?SGVsbG8="}"#, &header(literal)),
            Ok(())
        );
    }

    #[test]
    fn integers_are_compared_as_numbers() {
        let same = |body: &str, header| {
            check(
                &format!(r#"{{"count": {body}}}"#),
                &[("mcp-param-count", header)],
            )
        };
        for header in ["42", "042", "42.0", "42.000", " 42 "] {
            assert_eq!(same("42", header), Ok(()), "{header}");
            assert_eq!(same("4.2e1", header), Ok(()), "{header}");
        }
        assert_eq!(same("0", "-0"), Ok(()));
        for header in [
            "43", "42.5", "4e1", "+42", "0x2A", "42.", ".0", "", "-", "--42", "42 1",
        ] {
            assert_eq!(
                same("42", header),
                Err(MismatchReason::Different),
                "{header}"
            );
        }
        let beyond = same("9007199254740991", "-9223372036854775808");
        assert_eq!(beyond, Err(MismatchReason::Different));
    }

    #[test]
    fn repeated_keys_are_refused() {
        for twice in [
            r#"{"text": "a", "text": "b"}"#,
            r#"{"text": null, "te\u0078t": "b"}"#,
            r#"{"in": {"deep": "a"}, "in": {}}"#,
        ] {
            assert_eq!(sent(twice), Err(MismatchReason::Ambiguous), "{twice}");
            let headers = [("mcp-param-text", "a"), ("mcp-param-deep", "a")];
            assert_eq!(
                check(twice, &headers),
                Err(MismatchReason::Ambiguous),
                "{twice}"
            );
        }
        assert_eq!(
            sent(r#"{"other": 1, "other": 2}"#),
            Ok(vec![]),
            "not ours to judge"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_mirrored_as_it_is() {
        assert_eq!(sent(r#"{"count": "five"}"#), one("mcp-param-count", "five"));
        assert_eq!(
            check(r#"{"count": "five"}"#, &[("mcp-param-count", "five")]),
            Ok(())
        );
    }
}
