//! The parameters of a request, with what the scan has found in them.

use std::ops::{Deref, Range};

use bytes::Bytes;

use super::ParsedCall;
use crate::jsonrpc::{Member, range_of};

/// The parameters of a request: JSON, as received.
///
/// They also hold where the parts of a tool call are, if the scan that admitted
/// the request came across them. So [`parse_call`](Self::parse_call) need not
/// scan them again.
///
/// ```
/// use bowline_proto::server::RequestParams;
/// use bytes::Bytes;
///
/// let params = RequestParams::from(Bytes::from_static(br#"{"name":"add","arguments":{"a":1}}"#));
/// let call = params.parse_call().unwrap();
/// assert_eq!((&*call.name, call.arguments), ("add", Some(r#"{"a":1}"#)));
/// assert!(params.starts_with(b"{"));
/// ```
#[derive(Clone, Debug)]
pub struct RequestParams {
    json: Bytes,
    call_spans: Option<CallSpans>,
}

impl RequestParams {
    /// Creates parameters from JSON in which these spans were found.
    pub(super) fn new(json: Bytes, call_spans: Option<CallSpans>) -> Self {
        Self { json, call_spans }
    }

    /// Splits a tool call into its parts without decoding it. Returns `None` if
    /// the parameters have to be decoded.
    #[must_use]
    pub fn parse_call(&self) -> Option<ParsedCall<'_>> {
        match &self.call_spans {
            Some(spans) => spans.split(&self.json),
            None => ParsedCall::parse(&self.json),
        }
    }

    /// Returns the JSON.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.json
    }

    /// Returns the JSON.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.json
    }
}

impl From<Bytes> for RequestParams {
    fn from(json: Bytes) -> Self {
        Self::new(json, None)
    }
}

impl Deref for RequestParams {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.json
    }
}

/// The spans of a call's parts in its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSpans {
    name: Span,
    arguments: Option<Span>,
}

/// A range of bytes. Parameters that are longer than this can express are
/// scanned again.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of(part: &[u8], whole: &[u8]) -> Option<Self> {
        let Range { start, end } = range_of(part, whole)?;
        Some(Self {
            start: start.try_into().ok()?,
            end: end.try_into().ok()?,
        })
    }

    fn slice(self, whole: &[u8]) -> Option<&[u8]> {
        whole.get(self.start as usize..self.end as usize)
    }
}

impl CallSpans {
    /// Returns the spans of parts that are slices of `params`.
    pub(super) fn new(params: &[u8], name: &[u8], arguments: Option<&[u8]>) -> Option<Self> {
        let arguments = match arguments {
            Some(arguments) => Some(Span::of(arguments, params)?),
            None => None,
        };
        Some(Self {
            name: Span::of(name, params)?,
            arguments,
        })
    }

    /// Returns the call, if its parts have the right types.
    pub(super) fn split(self, params: &[u8]) -> Option<ParsedCall<'_>> {
        let Member::String(name) = Member::from_value(self.name.slice(params)?) else {
            return None;
        };
        let arguments = match self.arguments {
            Some(span) => Some(span.slice(params)?).filter(|value| *value != b"null"),
            None => None,
        };
        let arguments = match arguments {
            Some(json) => Some(str::from_utf8(json).ok()?),
            None => None,
        };
        Some(ParsedCall { name, arguments })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::server::request_head::RequestHead;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn spans_give_the_call_that_a_scan_gives(
            members in prop::collection::vec(
                prop::sample::select(vec![
                    r#""name":"add""#,
                    r#""name":"a\u0064d""#,
                    r#""n\u0061me":"x""#,
                    r#""name":7"#,
                    r#""arguments":{"a":[1,"}"]}"#,
                    r#""arguments":null"#,
                    r#""_meta":{"progressToken":1}"#,
                    r#""requestState":"x""#,
                    r#""x":1.5"#,
                ]),
                0..5,
            ),
            separator in prop::sample::select(vec![",", " , "]),
        ) {
            let json = Bytes::from(format!("{{{}}}", members.join(separator)));
            let head = RequestHead::read(Some(&json));
            let spans = head.ok().and_then(|head| head.call_spans());
            let scanned = RequestParams::new(json.clone(), spans);
            let bare = RequestParams::from(json.clone());
            prop_assert_eq!(scanned.parse_call(), bare.parse_call());
            if let Some(call) = bare.parse_call() {
                let full: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
                prop_assert_eq!(full["name"].as_str(), Some(&*call.name));
                let arguments = call.arguments.map_or("null", |arguments| arguments);
                let arguments: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
                prop_assert_eq!(&full["arguments"], &arguments);
            }
        }
    }
}
