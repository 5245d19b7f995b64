//! The call of a tool, taken apart without being decoded.

use std::borrow::Cow;

use crate::jsonrpc::{Member, Walk};

/// What the call of a tool brings, where that is a name and arguments and
/// nothing unusual.
///
/// ```
/// use bowline_proto::server::PlainCall;
///
/// let params = br#"{"name": "add", "arguments": {"a": 1}, "_meta": {}}"#;
/// let call = PlainCall::read(params).unwrap();
/// assert_eq!((&*call.name, call.arguments), ("add", Some(r#"{"a": 1}"#)));
/// assert!(PlainCall::read(br#"{"name": "add", "requestState": "x"}"#).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCall<'a> {
    /// Which tool is called; borrowed unless it has escapes.
    pub name: Cow<'a, str>,
    /// The arguments as they are written, if there are any. That they are valid
    /// JSON is known when they are decoded.
    pub arguments: Option<&'a str>,
}

impl<'a> PlainCall<'a> {
    /// Reads the parameters of a call. There is none where they bring anything
    /// else, or cannot be read: then they have to be decoded.
    #[must_use]
    pub fn read(params: &'a [u8]) -> Option<Self> {
        let (mut name, mut arguments, mut has_meta) = (None, None, false);
        let mut walk = Walk::open(params)?;
        while let Some(key) = walk.name()? {
            let value = walk.value()?;
            let repeated = match key {
                b"name" => name.replace(value).is_some(),
                b"arguments" => arguments.replace(value).is_some(),
                b"_meta" => std::mem::replace(&mut has_meta, true),
                _ => return None,
            };
            if repeated {
                return None;
            }
        }
        let Member::Text(name) = Member::of(name?) else {
            return None;
        };
        let arguments = match arguments.filter(|value| *value != b"null") {
            Some(value) => Some(str::from_utf8(value).ok()?),
            None => None,
        };
        walk.is_over().then_some(Self { name, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_arguments_are_found() {
        let call = PlainCall::read(br#"{"arguments":null,"name":"a\u0062"}"#).unwrap();
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
            assert_eq!(PlainCall::read(params.as_bytes()), None, "{params}");
        }
        assert_eq!(
            PlainCall::read(b"{\"name\":\"a\",\"arguments\":\"\xff\"}"),
            None
        );
    }
}
