//! The id of a message that cannot be read.

use bowline_proto::jsonrpc::{Envelope, PartialEnvelope, RequestId, scan, scan_partial};
use proptest::prelude::*;

fn saved(id: impl Into<RequestId>, is_response: bool) -> PartialEnvelope {
    PartialEnvelope {
        id: Some(id.into()),
        is_response,
        has_result_or_error: is_response,
    }
}

fn nothing(is_response: bool) -> PartialEnvelope {
    PartialEnvelope {
        id: None,
        is_response,
        has_result_or_error: is_response,
    }
}

/// What looks like an answer, as far as it goes.
fn perhaps(id: impl Into<RequestId>) -> PartialEnvelope {
    PartialEnvelope {
        has_result_or_error: false,
        ..saved(id, true)
    }
}

#[test]
fn finds_the_id_before_the_cut() {
    let cases = [
        (
            r#"{"jsonrpc":"2.0","id":12,"result":{"con"#,
            saved(12_u64, true),
        ),
        (r#"{"jsonrpc":"2.0","id":12,"error":"#, perhaps(12_u64)),
        (
            r#" {"id":"x\u0079","method":"tools/call","params":{"#,
            saved("xy", false),
        ),
        (
            r#"{"method":"tools/call","id":-3 ,"params":{"#,
            saved(-3_i64, false),
        ),
        (r#"{"id":12,"jsonr"#, perhaps(12_u64)),
        (
            r#"{"result":[{"id":1},"\"id\":2"],"id":12,"#,
            saved(12_u64, true),
        ),
    ];
    for (prefix, expected) in cases {
        assert_eq!(scan_partial(prefix.as_bytes()), expected, "{prefix}");
    }
}

#[test]
fn is_not_fooled() {
    let cases = [
        ("", nothing(false)),
        ("id", nothing(false)),
        (r#"[{"id":1,"result":1}]"#, nothing(false)),
        (r#""{\"id\":1}"#, nothing(false)),
        (r#"{"params":{"id":1},"method":"m""#, nothing(false)),
        (r#"{"params":{"id":1}"#, nothing(false)),
        (r#"{"result":{"id":1},"x":"\"id\":2"#, nothing(true)),
        (r#"{"result":{"a":"}","id":1"#, nothing(true)),
        (r#"{"x":"\",\"id\":1,\"", "y":2"#, nothing(false)),
    ];
    for (prefix, expected) in cases {
        assert_eq!(scan_partial(prefix.as_bytes()), expected, "{prefix}");
    }
}

#[test]
fn an_id_that_may_have_been_cut_is_none() {
    for prefix in [
        r#"{"id""#,
        r#"{"id":"#,
        r#"{"id":1"#,
        r#"{"id":12"#,
        r#"{"id":"12"#,
    ] {
        assert_eq!(scan_partial(prefix.as_bytes()).id, None, "{prefix}");
    }
    assert_eq!(scan_partial(br#"{"id":12 "#), perhaps(12_u64));
    assert_eq!(scan_partial(br#"{"id":"12""#), perhaps("12"));
}

#[test]
fn an_id_that_stands_twice_is_none() {
    assert_eq!(
        scan_partial(br#"{"id":1,"id":2,"result":{}}"#),
        nothing(true)
    );
    assert_eq!(
        scan_partial(br#"{"id":1,"id":2,"id":3,"result":{}}"#),
        nothing(true)
    );
}

#[test]
fn goes_through_what_the_scan_refuses() {
    let deep = format!(
        r#"{{"result":{}{},"id":4}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(scan_partial(deep.as_bytes()), saved(4_u64, true));
}

#[test]
fn stops_where_nobody_knows_what_is_inside_what() {
    let frame = br#"{"result":{"a":[}],"id":4},"id":5}"#;
    assert_eq!(scan_partial(frame), nothing(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_cut_never_invents_an_id(number in any::<u64>(), inner in any::<u64>(), text in "[^\0-\u{1f}]{0,40}") {
        let text = serde_json::to_string(&text).unwrap();
        let frame = format!(
            r#"{{"result":{{"id":{inner},"text":{text}}},"note":{text},"id":{number},"jsonrpc":"2.0"}}"#
        );
        let Ok(Envelope::Response { id, .. }) = scan(frame.as_bytes()) else {
            panic!("a response: {frame}");
        };
        for end in 0..frame.len() {
            let found = scan_partial(&frame.as_bytes()[..end]).id;
            prop_assert!(found.is_none() || found == Some(id.clone()), "{} of {}", end, frame);
        }
        prop_assert_eq!(scan_partial(frame.as_bytes()), saved(id, true));
    }

    #[test]
    fn bytes_of_any_kind_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut frame = b"{\"id\":".to_vec();
        frame.extend_from_slice(&bytes);
        let _ = scan_partial(&frame);
    }
}
