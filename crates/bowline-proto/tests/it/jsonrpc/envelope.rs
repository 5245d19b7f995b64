//! The scan: what it finds, what it refuses, and that it agrees with a full decode.

use std::borrow::Cow;

use bowline_proto::jsonrpc::{Envelope, RequestId, ScanError, ScanErrorKind, scan};
use proptest::{prelude::*, sample::select};
use serde_json::Value;

use super::text;

fn fails(frame: &str) -> ScanError {
    scan(frame.as_bytes()).expect_err(frame)
}

#[track_caller]
fn assert_kind(frame: &str, kind: ScanErrorKind) {
    assert_eq!(fails(frame).kind, kind, "{frame}");
}

#[test]
fn the_four_kinds_of_message() {
    assert_eq!(
        scan(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap(),
        Envelope::Request {
            id: 1_u64.into(),
            method: "ping".into(),
            params: None
        }
    );
    assert_eq!(
        scan(br#" {"params" : [ ] , "method":"x/y","jsonrpc":"2.0"} "#).unwrap(),
        Envelope::Notification {
            method: "x/y".into(),
            params: Some(b"[ ]")
        }
    );
    assert_eq!(
        scan(br#"{"result":{"a":{"resultType":"no"}},"id":"1","jsonrpc":"2.0"}"#).unwrap(),
        Envelope::Response {
            id: "1".into(),
            result: br#"{"a":{"resultType":"no"}}"#,
            result_type: None,
        }
    );
    assert_eq!(
        scan(br#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#).unwrap(),
        Envelope::Error {
            id: None,
            error: br#"{"code":1}"#
        }
    );
}

#[test]
fn plain_methods_borrow_and_escaped_ones_do_not() {
    let plain = br#"{"jsonrpc":"2.0","method":"tools/list"}"#;
    let Ok(Envelope::Notification {
        method: Cow::Borrowed("tools/list"),
        ..
    }) = scan(plain)
    else {
        panic!("borrowed");
    };
    let escaped = br#"{"jsonrpc":"2.0","method":"tools\/list\u0021"}"#;
    let Ok(Envelope::Notification {
        method: Cow::Owned(method),
        ..
    }) = scan(escaped)
    else {
        panic!("owned");
    };
    assert_eq!(method, "tools/list!");
}

#[test]
fn escaped_keys_are_the_same_keys() {
    let frame = br#"{"\u006asonrpc":"2\u002e0","\u0069d":3,"m\u0065thod":"x"}"#;
    let Ok(Envelope::Request { id, .. }) = scan(frame) else {
        panic!("a request");
    };
    assert_eq!(id, 3_u64.into());
    assert_kind(
        r#"{"jsonrpc":"2.0","id":3,"\u0069d":3,"method":"x"}"#,
        ScanErrorKind::DuplicateKey("id"),
    );
}

#[test]
fn the_result_type_is_noted_on_the_way() {
    let result_type = |result: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        match scan(frame.as_bytes()).unwrap() {
            Envelope::Response {
                result_type,
                result: slice,
                ..
            } => {
                assert_eq!(slice, result.as_bytes());
                result_type.map(Cow::into_owned)
            }
            other => panic!("{other:?}"),
        }
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        result_type(r#"{"resultType":"input_required"}"#),
        some("input_required")
    );
    assert_eq!(
        result_type(r#"{ "a":[{}], "result\u0054ype" : "c\u006fmplete" }"#),
        some("complete")
    );
    assert_eq!(result_type(r#"{"resultType":7}"#), None);
    assert_eq!(
        result_type(r#"{"resultType":"a","resultType":"b"}"#),
        some("b")
    );
    assert_eq!(result_type(r#"["resultType","a"]"#), None);
    for scalar in [r#""resultType""#, "null", "true", "-1.5e9"] {
        assert_eq!(result_type(scalar), None);
    }
}

#[test]
fn ids_are_64_bit_integers_or_strings() {
    let id = |id: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#);
        match scan(frame.as_bytes()) {
            Ok(Envelope::Request { id, .. }) => Ok(id),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    };
    assert_eq!(id("0"), Ok(0_u64.into()));
    assert_eq!(id("18446744073709551615"), Ok(u64::MAX.into()));
    assert_eq!(id("-9223372036854775808"), Ok(i64::MIN.into()));
    assert_eq!(id(r#""0""#), Ok("0".into()), "a string stays a string");
    assert_eq!(id(r#""""#), Ok("".into()));
    assert_eq!(id(r#""\u00e9\"\ud83d\ude00""#), Ok("é\"😀".into()));
    for bad in [
        "null",
        "1.0",
        "1e2",
        "-0",
        "01",
        "18446744073709551616",
        "-9223372036854775809",
        "true",
        "[1]",
        "{}",
        r#""\ud83d""#,
        "nul",
        "\"a\nb\"",
    ] {
        assert_eq!(id(bad), Err(ScanErrorKind::BadId), "{bad}");
    }
}

#[test]
fn params_that_are_null_are_none() {
    assert_eq!(
        scan(br#"{"jsonrpc":"2.0","method":"m","params":null}"#).unwrap(),
        Envelope::Notification {
            method: "m".into(),
            params: None
        },
    );
}

#[test]
fn each_fault_has_its_name() {
    use ScanErrorKind as Kind;
    let cases = [
        ("", Kind::UnexpectedEnd),
        ("  ", Kind::UnexpectedEnd),
        ("{", Kind::UnexpectedEnd),
        (r#"{"jsonrpc":"2.0","method":"m""#, Kind::UnexpectedEnd),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":{"a":1}"#,
            Kind::UnexpectedEnd,
        ),
        ("hello", Kind::NotJson),
        ("}", Kind::NotJson),
        (r#"{"jsonrpc":"2.0","method":"m",}"#, Kind::NotJson),
        (r#"{,"jsonrpc":"2.0","method":"m"}"#, Kind::NotJson),
        (r#"{"jsonrpc":"2.0" "method":"m"}"#, Kind::NotJson),
        (r#"{"jsonrpc":"2.0","method","m"}"#, Kind::NotJson),
        (r#"{jsonrpc:"2.0"}"#, Kind::NotJson),
        (r#"{"jsonrpc":"2.0","x":}"#, Kind::NotJson),
        // A quote within a name once let the scan and the salvage disagree.
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":t"},"\u0069d":2,"b":"}}"#,
            Kind::NotJson,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"\ud800"}}"#,
            Kind::NotJson,
        ),
        ("[]", Kind::NotAnObject),
        ("null", Kind::NotAnObject),
        ("\"{}\"", Kind::NotAnObject),
        (
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","method":"m"}"#,
            Kind::DuplicateKey("jsonrpc"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
            Kind::DuplicateKey("id"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"id":1,"method":"m"}"#,
            Kind::DuplicateKey("id"),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","method":"m"}"#,
            Kind::DuplicateKey("method"),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":{},"params":[]}"#,
            Kind::DuplicateKey("params"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1,"result":{}}"#,
            Kind::DuplicateKey("result"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{},"error":{}}"#,
            Kind::DuplicateKey("error"),
        ),
        (r#"{"method":"m"}"#, Kind::BadVersion),
        (r#"{"jsonrpc":"1.0","method":"m"}"#, Kind::BadVersion),
        (r#"{"jsonrpc":2.0,"method":"m"}"#, Kind::BadVersion),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Kind::BadId),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Kind::BadId),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Kind::BadId),
        (r#"{"jsonrpc":"2.0","id":1.5,"error":{}}"#, Kind::BadId),
        (r#"{"jsonrpc":"2.0","method":7}"#, Kind::BadMethod),
        (
            r#"{"jsonrpc":"2.0","method":null,"id":1,"result":1}"#,
            Kind::BadMethod,
        ),
        (r#"{"jsonrpc":"2.0","method":"\q"}"#, Kind::BadMethod),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":null,"params":{}}"#,
            Kind::DuplicateKey("params"),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":"[]"}"#,
            Kind::BadParams,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, Kind::BadError),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, Kind::BadError),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#,
            Kind::ResultAndError,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            Kind::MethodAndResult,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","error":{}}"#,
            Kind::MethodAndResult,
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, Kind::NoMethodOrResult),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":[}]}}"#,
            Kind::MismatchedBracket,
        ),
        (r#"{"jsonrpc":"2.0","method":"m"}{"#, Kind::TrailingBytes),
        (r#"{"jsonrpc":"2.0","method":"m"}]"#, Kind::TrailingBytes),
    ];
    for (frame, kind) in cases {
        assert_kind(frame, kind);
    }
}

#[test]
fn a_fault_says_what_and_where_and_whose() {
    let error = fails(r#"{"jsonrpc":"2.0","result":{},"error":{},"id":"a"}"#);
    assert_eq!(
        error.to_string(),
        "both `result` and `error` are present at byte 48 (message id \"a\")"
    );
    assert!(error.is_response);
    assert_eq!(fails("hello").to_string(), "not JSON at byte 0");
}

#[test]
fn the_id_survives_a_fault_before_it() {
    for frame in [
        r#"{"jsonrpc":"2.0","result":{},"result":{},"id":5}"#,
        r#"{"jsonrpc":"1.0","result":{},"id":5}"#,
        r#"{"jsonrpc":"2.0","result":{},"id":5} x"#,
        r#"{"error":"no","jsonrpc":"2.0","id":5}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{"text":"cut off"#,
        r#"{"jsonrpc":"2.0","id":5}"#,
    ] {
        let error = fails(frame);
        assert_eq!(error.id, Some(5_u64.into()), "{frame}");
        assert!(error.is_response, "{frame}");
    }
    let request = fails(r#"{"jsonrpc":"2.0","params":7,"method":"m","id":5}"#);
    assert_eq!(
        (request.id, request.is_response),
        (Some(5_u64.into()), false)
    );
}

#[test]
fn nesting_is_bounded_and_never_recursive() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{open}{close},"id":9}}"#)
    };
    assert!(
        scan(nested(127).as_bytes()).is_ok(),
        "and the message is level 128"
    );
    let error = fails(&nested(128));
    assert_eq!(error.kind, ScanErrorKind::TooDeep);
    assert_eq!(error.id, Some(9_u64.into()));
    assert_kind(&nested(1_000_000), ScanErrorKind::TooDeep);
    let in_result = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{open}{close}}}}}"#)
    };
    assert!(scan(in_result(126).as_bytes()).is_ok());
    assert_kind(&in_result(127), ScanErrorKind::TooDeep);
}

/// A member of a message as text: key (quoted, perhaps with escapes) and value.
fn member() -> impl Strategy<Value = (String, String)> {
    let fixed = |keys: Vec<&'static str>, values: Vec<&'static str>| {
        (select(keys), select(values)).prop_map(|(key, value)| (key.to_owned(), value.to_owned()))
    };
    let keyed = |keys: Vec<&'static str>, value: BoxedStrategy<String>| {
        (select(keys), value).prop_map(|(key, value)| (key.to_owned(), value))
    };
    prop_oneof![
        4 => fixed(vec![r#""jsonrpc""#, r#""jsonr\u0070c""#], vec![r#""2.0""#, r#""2\u002E0""#]),
        4 => keyed(vec![r#""id""#, r#""\u0069d""#], text::scalar().boxed()),
        2 => keyed(vec![r#""method""#], text::string().boxed()),
        2 => keyed(vec![r#""params""#], text::value().boxed()),
        2 => keyed(vec![r#""result""#], text::value().boxed()),
        2 => keyed(vec![r#""result""#], result_object().boxed()),
        2 => keyed(vec![r#""error""#], text::object(text::value()).boxed()),
        1 => (text::string(), text::value()),
    ]
}

fn result_object() -> impl Strategy<Value = String> {
    let result_type = (text::space(), text::scalar())
        .prop_map(|(space, value)| (space, (r#""resultType""#.to_owned(), value)));
    (result_type, text::string(), text::value()).prop_map(|((space, result_type), key, value)| {
        text::members_text(space, &[(key, value), result_type])
    })
}

/// Messages good and bad, in which no key stands twice.
fn message() -> impl Strategy<Value = String> {
    let frame = (text::space(), prop::collection::vec(member(), 0..7));
    frame.prop_map(|(space, mut members)| {
        let mut seen = Vec::new();
        members.retain(|(key, _)| {
            let key: String = serde_json::from_str(key).expect("a JSON string");
            let new = !seen.contains(&key);
            seen.push(key);
            new
        });
        format!("{space}{}{space}", text::members_text(space, &members))
    })
}

/// A message that is good in any case, its members in any order.
fn good_message() -> impl Strategy<Value = String> {
    let id = prop_oneof![any::<u64>().prop_map(|id| id.to_string()), text::string()];
    let kind = prop_oneof![
        text::string().prop_map(|method| vec![("method", method)]),
        (text::string(), text::object(text::value()))
            .prop_map(|(method, params)| vec![("method", method), ("params", params)]),
        text::value().prop_map(|result| vec![("result", result)]),
        text::object(text::value()).prop_map(|error| vec![("error", error)]),
    ];
    let members = (id, kind).prop_map(|(id, mut members)| {
        members.extend([("jsonrpc", r#""2.0""#.to_owned()), ("id", id)]);
        let quoted = |(key, value)| (format!("\"{key}\""), value);
        members.into_iter().map(quoted).collect::<Vec<_>>()
    });
    (text::space(), members.prop_shuffle())
        .prop_map(|(space, members)| text::members_text(space, &members))
}

/// What the message is, according to a full decode; none where it is not one.
fn expected(message: &Value) -> Option<(&'static str, Option<RequestId>)> {
    let message = message.as_object()?;
    let get = |key: &str| message.get(key);
    if get("jsonrpc") != Some(&Value::from("2.0")) {
        return None;
    }
    let id = match get("id") {
        None | Some(Value::Null) => None,
        Some(id) => Some(serde_json::from_value::<RequestId>(id.clone()).ok()?),
    };
    let fits = |params: &Value| params.is_object() || params.is_array() || params.is_null();
    if !get("params").is_none_or(fits) {
        return None;
    }
    match (get("method"), get("result"), get("error")) {
        (Some(Value::String(_)), None, None) => match (&id, get("id")) {
            (Some(_), _) => Some(("request", id)),
            (None, None) => Some(("notification", None)),
            (None, Some(_)) => None,
        },
        (None, Some(_), None) => Some(("response", Some(id?))),
        (None, None, Some(Value::Object(_))) => Some(("error", id)),
        _ => None,
    }
}

fn value(slice: &[u8]) -> Value {
    serde_json::from_slice(slice).expect("a slice is one value")
}

/// Fails where the envelope does not say what a full decode says.
fn check(frame: &[u8], envelope: &Envelope<'_>) {
    let message = value(frame);
    let (kind, expected_id) = expected(&message).expect("the scan takes what a decode takes");
    // What is written out as null is not there.
    let params = message.get("params").filter(|params| !params.is_null());
    let params = params.cloned();
    match envelope {
        Envelope::Request {
            id,
            method,
            params: slice,
        } => {
            assert_eq!((kind, &expected_id), ("request", &Some(id.clone())));
            assert_eq!(message["method"], method.as_ref());
            assert_eq!(params, slice.map(value));
        }
        Envelope::Notification {
            method,
            params: slice,
        } => {
            assert_eq!(kind, "notification");
            assert_eq!(message["method"], method.as_ref());
            assert_eq!(params, slice.map(value));
        }
        Envelope::Response {
            id,
            result,
            result_type,
        } => {
            assert_eq!((kind, &expected_id), ("response", &Some(id.clone())));
            assert_eq!(message["result"], value(result));
            assert_eq!(
                message["result"]["resultType"].as_str(),
                result_type.as_deref()
            );
        }
        Envelope::Error { id, error } => {
            assert_eq!((kind, &expected_id), ("error", id));
            assert_eq!(message["error"], value(error));
        }
    }
}

#[track_caller]
fn assert_cut(frame: &str, end: usize) {
    let error = scan(&frame.as_bytes()[..end]).expect_err("it is cut");
    assert_eq!(
        (error.kind, error.offset),
        (ScanErrorKind::UnexpectedEnd, end),
        "{frame}"
    );
}

#[test]
fn a_message_cut_anywhere_is_not_taken() {
    let text = r#"line\n\"quoted\" \\ "#.repeat(9);
    for frame in [
        format!(r#"{{"jsonrpc":"2.0","id":12,"result":{{"a":["{text}",{{"b":-1.5e3}}]}}}}"#),
        format!(r#"{{"params":{{"a":"{text}"}},"method":"tools\/call","jsonrpc":"2.0","id":"x"}}"#),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#.to_owned(),
    ] {
        check(frame.as_bytes(), &scan(frame.as_bytes()).unwrap());
        for end in 0..frame.len() {
            assert_cut(&frame, end);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_scan_agrees_with_a_full_decode(frame in message()) {
        match scan(frame.as_bytes()) {
            Ok(envelope) => check(frame.as_bytes(), &envelope),
            Err(error) => prop_assert!(expected(&value(frame.as_bytes())).is_none(), "{error}"),
        }
    }

    #[test]
    fn every_good_message_is_taken(frame in good_message()) {
        check(frame.as_bytes(), &scan(frame.as_bytes()).unwrap());
    }

    #[test]
    fn a_cut_message_is_never_taken(
        frame in good_message(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 8),
    ) {
        for cut in cuts {
            assert_cut(&frame, cut.index(frame.trim_end().len()));
        }
    }

    #[test]
    fn bytes_of_any_kind_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = scan(&bytes);
    }

    #[test]
    fn a_damaged_message_is_survived(
        frame in good_message(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut frame = frame.into_bytes();
        let at = at.index(frame.len());
        frame[at] = byte;
        let scanned = scan(&frame);
        if serde_json::from_slice::<Value>(&frame).is_ok_and(|value| expected(&value).is_some()) {
            // A damaged key may have become a second one of the same name.
            let duplicate = matches!(&scanned, Err(error) if matches!(error.kind, ScanErrorKind::DuplicateKey(_)));
            prop_assert!(scanned.is_ok() || duplicate);
        }
    }
}
