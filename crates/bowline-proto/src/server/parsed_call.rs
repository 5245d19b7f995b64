//! A tool call, split into its parts without decoding.

use std::borrow::Cow;

use super::request_head::RequestHead;

/// The parts of a tool call that has a name and arguments and nothing unusual.
///
/// ```
/// use bowline_proto::server::ParsedCall;
///
/// let params = br#"{"name": "add", "arguments": {"a": 1}, "_meta": {}}"#;
/// let call = ParsedCall::parse(params).unwrap();
/// assert_eq!((&*call.name, call.arguments), ("add", Some(r#"{"a": 1}"#)));
/// assert!(ParsedCall::parse(br#"{"name": "add", "requestState": "x"}"#).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCall<'a> {
    /// The name of the tool; borrowed unless it has escapes.
    pub name: Cow<'a, str>,
    /// The arguments as written, if any. Whether they are valid JSON is only
    /// known once they are decoded.
    pub arguments: Option<&'a str>,
}

impl<'a> ParsedCall<'a> {
    /// Parses the parameters of a call. Returns `None` if they contain anything
    /// else, or cannot be scanned: then they have to be decoded.
    #[must_use]
    pub fn parse(params: &'a [u8]) -> Option<Self> {
        RequestHead::scan(params)?.call_spans()?.split(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_arguments_are_found() {
        let call = ParsedCall::parse(br#"{"arguments":null,"name":"a\u0062"}"#).unwrap();
        assert_eq!((&*call.name, call.arguments), ("ab", None));
    }

    #[test]
    fn what_is_unusual_is_left_to_the_decoder() {
        for params in [
            "[]",
            "{}",
            r#"{"name":7}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","n\u0061me":"b"}"#,
            r#"{"name":"a","arguments":{},"arguments":{}}"#,
            r#"{"name":"a","_meta":{},"_meta":{}}"#,
            r#"{"name":"a","inputResponses":{}}"#,
            r#"{"name":"a","arguments":{}"#,
            r#"{"name":"a"}x"#,
        ] {
            assert_eq!(ParsedCall::parse(params.as_bytes()), None, "{params}");
        }
        assert_eq!(
            ParsedCall::parse(b"{\"name\":\"a\",\"arguments\":\"\xff\"}"),
            None
        );
    }
}
