//! What goes out, byte by byte.

use std::collections::BTreeMap;

use bowline_proto::jsonrpc::{
    EncodeError, Envelope, ErrorObject, OutgoingMessage, RawJson, RequestId, error_response,
    response, response_raw, scan,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::text;

fn raw(text: &str) -> RawJson {
    RawJson::from_string(text.to_owned()).expect("JSON")
}

#[test]
fn params_without_members_are_left_out() {
    let frame = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
    assert_eq!(
        OutgoingMessage::without_params("ping")
            .into_request(0)
            .frame,
        frame
    );
    for draft in [
        OutgoingMessage::new("ping", &()),
        OutgoingMessage::new("ping", &None::<Value>),
        OutgoingMessage::new("ping", &json!({})),
        OutgoingMessage::new("ping", &raw("{ \n }")),
        Ok(OutgoingMessage::from_members("ping", b"")),
        Ok(OutgoingMessage::from_members("ping", b" ")),
    ] {
        let draft = draft.unwrap();
        assert!(draft.is_empty());
        let encoded = draft.into_request(0);
        assert_eq!(encoded.frame, frame);
        assert_eq!(encoded.members, "");
    }
    let notification =
        OutgoingMessage::without_params("notifications/initialized").into_notification();
    assert_eq!(
        notification,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    );
}

#[test]
fn params_must_be_an_object() {
    for params in [json!([1]), json!("{}"), json!(7), json!(true)] {
        let error = OutgoingMessage::new("m", &params).unwrap_err();
        assert!(matches!(error, EncodeError::NotAnObject), "{params}");
    }
    let bad_key: BTreeMap<Vec<u8>, u8> = [(vec![1], 1)].into();
    let error = OutgoingMessage::new("m", &bad_key).unwrap_err();
    assert!(
        error.to_string().contains("key must be a string"),
        "{error}"
    );
}

#[test]
fn pushed_members_follow_but_are_not_the_callers_own() {
    let mut draft = OutgoingMessage::new("tools/call", &json!({"name": "add"})).unwrap();
    draft.push("_meta", &json!({"a": 1})).unwrap();
    draft.push_raw("requestState", br#""opaque""#);
    let encoded = draft.into_request(5);
    assert_eq!(
        encoded.frame,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add","_meta":{"a":1},"requestState":"opaque"}}"#
    );
    assert_eq!(encoded.members, r#""name":"add""#);

    let again = OutgoingMessage::from_members("tools/call", &encoded.members).into_request(6);
    assert_eq!(
        again.frame,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"add"}}"#
    );

    let mut draft = OutgoingMessage::without_params("tools/list");
    draft.push("cursor", "x").unwrap();
    let encoded = draft.into_request(7);
    assert_eq!(
        encoded.frame,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}"#
    );
    assert_eq!(encoded.members, "");
}

#[test]
fn the_members_share_the_frames_memory() {
    let encoded = OutgoingMessage::new("m", &json!({"name": "add"}))
        .unwrap()
        .into_request(1);
    let frame = encoded.frame.as_ptr_range();
    assert!(frame.contains(&encoded.members.as_ptr()));
}

#[test]
fn a_push_that_fails_leaves_no_trace() {
    let bad_key: BTreeMap<Vec<u8>, u8> = [(vec![1], 1)].into();
    let mut draft = OutgoingMessage::new("m", &json!({"a": 1})).unwrap();
    draft.push("b", &bad_key).unwrap_err();
    assert_eq!(
        draft.into_notification(),
        r#"{"jsonrpc":"2.0","method":"m","params":{"a":1}}"#
    );
}

#[test]
fn names_are_escaped_where_they_must_be() {
    let mut draft = OutgoingMessage::without_params("a\"b\\c\n");
    draft.push("k\"", &1).unwrap();
    assert_eq!(draft.method(), "a\"b\\c\n");
    let frame = draft.into_request(u64::MAX).frame;
    let message: Value = serde_json::from_slice(&frame).unwrap();
    let expected = json!({
        "jsonrpc": "2.0", "id": u64::MAX, "method": "a\"b\\c\n", "params": {"k\"": 1},
    });
    assert_eq!(message, expected);
}

#[test]
fn a_frame_is_one_line_whatever_is_in_it() {
    let schema = raw("{\r\n  \"type\":\n\"object\",\t\"a\": \"\\n\"\n}");
    let flat = r#"{    "type": "object",	"a": "\n" }"#;
    let whole = OutgoingMessage::new("m", &schema)
        .unwrap()
        .into_notification();
    assert_eq!(
        whole,
        format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":{}}}"#,
            flat.replace(" }", "}")
        )
    );
    let mut draft = OutgoingMessage::without_params("m");
    draft.push("schema", &schema).unwrap();
    draft.push_raw("raw", b"[\n1]");
    let encoded = draft.into_request(1);
    assert_eq!(
        encoded.frame,
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"schema":{flat},"raw":[ 1]}}}}"#
        )
    );
    let id = RequestId::from(1_u64);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{flat}}}"#);
    assert_eq!(response(&id, &schema).unwrap(), answer);
    assert_eq!(response_raw(&id, schema.get().as_bytes()), answer);
    let error = ErrorObject::new(-32603, "line\nbreak").with_data(schema);
    assert_eq!(
        error_response(Some(&id), &error),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"line\nbreak","data":{flat}}}}}"#
        )
    );
}

#[test]
fn answers_carry_the_id_as_it_came() {
    let answer = |id: RequestId| response(&id, &json!({})).unwrap();
    assert_eq!(
        answer("1".into()),
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#
    );
    assert_eq!(
        answer(i64::MIN.into()),
        r#"{"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}"#
    );
    assert_eq!(
        error_response(None, &ErrorObject::new(-32700, "no")),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#
    );
    let bad_key: BTreeMap<Vec<u8>, u8> = [(vec![1], 1)].into();
    response(&1_u64.into(), &bad_key).unwrap_err();
}

fn members() -> impl Strategy<Value = Map<String, Value>> {
    let parse = |text: String| serde_json::from_str::<Value>(&text).expect("JSON");
    let value = text::value().prop_map(parse);
    prop::collection::btree_map(".{0,8}", value, 0..4)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_request_reads_back(
        method in ".{0,20}", id in any::<u64>(), own in members(), pushed in members(),
    ) {
        let mut draft = OutgoingMessage::new(method.clone(), &own).unwrap();
        let mut params = own.clone();
        for (key, value) in pushed {
            if !params.contains_key(&key) {
                draft.push(&key, &value).unwrap();
                params.insert(key, value);
            }
        }
        let bound = draft.len();
        let encoded = draft.into_request(id);
        prop_assert!(encoded.frame.len() <= bound);
        prop_assert!(!encoded.frame.contains(&b'\n'));

        let mut expected = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_empty() {
            expected["params"] = params.into();
        }
        prop_assert_eq!(serde_json::from_slice::<Value>(&encoded.frame).unwrap(), expected);
        let members = [b"{", encoded.members.as_ref(), b"}"].concat();
        prop_assert_eq!(serde_json::from_slice::<Map<_, _>>(&members).unwrap(), own);
    }

    #[test]
    fn a_response_scans_back(text in text::value(), id in any::<i64>()) {
        let frame = response(&id.into(), &raw(&text)).unwrap();
        prop_assert_eq!(&frame, &response_raw(&id.into(), text.as_bytes()));
        prop_assert!(!frame.contains(&b'\n'));
        let Ok(Envelope::Response { id: scanned, result, .. }) = scan(&frame) else {
            panic!("a response");
        };
        prop_assert_eq!(scanned, id.into());
        let result: Value = serde_json::from_slice(result).unwrap();
        prop_assert_eq!(result, serde_json::from_str::<Value>(&text).unwrap());
    }
}
