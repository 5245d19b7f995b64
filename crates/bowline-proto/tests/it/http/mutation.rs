//! Damaged input is refused or read, but never panics.

use bowline_proto::http::{
    Accept, OriginPolicy, RequestFraming,
    header::{MirroredHeaders, ParamHeaders, decode_value},
    is_json, parse_error_body, parse_retry_after,
    resume::EventId,
    session_from_headers,
    sse::{Decoder, resolve_endpoint},
};
use proptest::prelude::*;

const SEEDS: [&str; 14] = [
    r#"{"properties": {"a": {"type": "string", "x-mcp-header": "A", "items": [{}]}}}"#,
    r#"{"name": "echo", "arguments": {"a": "\u00e9", "n": 1.5e3}}"#,
    r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32020, "message": "m"}}"#,
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "application/json;q=0.5, text/event-stream;x=\"a,b\"",
    "http://[::1]:3000/a/../b?x#y",
    "=?base64?SGVsbG8=?=",
    "id: 1\r\nevent: x\rretry: 5\ndata: {}\n\n",
    "ff-1-2",
    "localhost:8080",
    "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2;a\r\n{}\r\n0\r\na: b\r\n\r\n",
];

fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 0..6);
    (prop::sample::select(&SEEDS[..]), edits).prop_map(|(seed, edits)| {
        let mut bytes = seed.as_bytes().to_vec();
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                2 if at < bytes.len() => bytes[at] = byte,
                _ => bytes.extend_from_within(at..),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_input_never_panics(bytes in damaged(), now in any::<u64>()) {
        let _ = decode_value(&bytes);
        let _ = MirroredHeaders::from_message("tools/call", Some(&bytes));
        let _ = parse_error_body(&bytes);
        let _ = parse_retry_after(&bytes, now);
        let _ = EventId::parse(&bytes);
        let _ = is_json(&bytes);
        let headers = [("accept", &bytes), ("host", &bytes), ("origin", &bytes), ("mcp-session-id", &bytes)];
        let _ = Accept::from_headers(&headers);
        let _ = OriginPolicy::loopback().check(&headers);
        let _ = session_from_headers(&headers, false, true);
        let _ = Decoder::default().push(&mut &bytes[..]);
        let text = String::from_utf8_lossy(&bytes);
        let _ = resolve_endpoint("http://h/sse", &text);
        let _ = resolve_endpoint(&text, "m");
        let params = ParamHeaders::from_schema(SEEDS[0]).unwrap();
        let _ = params.check(&[("mcp-param-a", &bytes)], Some(&bytes));
        if let Ok(params) = ParamHeaders::from_schema(&text) {
            let _ = params.fields(Some(SEEDS[1].as_bytes()));
        }
    }

    /// The fuzz target `request_framing` does the same with more patience.
    #[test]
    fn requests_are_told_apart_whatever_pieces_they_come_in(bytes in damaged(), size in 1usize..9) {
        let mut whole = RequestFraming::default();
        let pushed = whole.push(&bytes);
        let mut pieces = RequestFraming::default();
        let mut cut = bytes.chunks(size);
        prop_assert_eq!(cut.try_for_each(|piece| pieces.push(piece)), pushed);
        if pushed.is_ok() {
            prop_assert_eq!(whole.is_between_requests(), pieces.is_between_requests());
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = r#"{"properties":{"a":"#.repeat(10_000) + r#"{"x-mcp-header":"A"}"#;
    assert!(ParamHeaders::from_schema(&deep).is_err());
    let params = ParamHeaders::from_schema(SEEDS[0]);
    assert!(params.is_ok());
    let arguments = "[".repeat(100_000);
    assert_eq!(
        params.unwrap().fields(Some(arguments.as_bytes())),
        Ok(vec![])
    );
}
