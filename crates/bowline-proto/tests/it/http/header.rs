//! What must hold for every header value, whatever the text.

use bowline_proto::http::header::{
    HeaderField, MirroredHeaders, ParamHeaders, decode_value, encode_value,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "text": {"type": "string", "x-mcp-header": "Text"},
    "count": {"type": "integer", "x-mcp-header": "Count"},
    "flag": {"type": "boolean", "x-mcp-header": "Flag"},
    "more": {"type": "object", "properties": {
        "text": {"type": "string", "x-mcp-header": "More-Text"}}},
    "plain": {"type": "string"}}}"#;

/// Any text, with those that look encoded among them.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "=\\?(base64|BASE64)\\?[A-Za-z0-9+/=]{0,8}(\\?=|\\?|=|)",
        "[\\x00-\\x20\\x7f]{0,4}",
    ]
}

fn arguments() -> impl Strategy<Value = Value> {
    const LIMIT: i64 = (1 << 53) - 1;
    let value = prop_oneof![
        Just(Value::Null),
        text().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-LIMIT..=LIMIT).prop_map(Value::from),
        (-1000i32..1000).prop_map(|whole| json!(f64::from(whole))),
    ];
    let object = prop::collection::btree_map("text|count|flag|plain|other", value.clone(), 0..6);
    let nested = prop_oneof![
        value.clone(),
        value.prop_map(|inner| json!({"text": inner, "x": 1}))
    ];
    (object, prop::option::of(nested)).prop_map(|(object, more)| {
        let mut object: Map<String, Value> = object.into_iter().collect();
        object.extend(more.map(|more| ("more".to_owned(), more)));
        Value::Object(object)
    })
}

fn pairs(fields: &[HeaderField<'_>]) -> Vec<(String, String)> {
    let pair = |field: &HeaderField<'_>| (field.name().to_owned(), field.value().to_owned());
    fields.iter().map(pair).collect()
}

fn is_safe(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, 0x20..=0x7e)) && value.trim_matches(' ') == value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_survives_the_header_and_cannot_leave_it(text in text()) {
        let value = encode_value(&text);
        prop_assert!(is_safe(&value), "{value:?}");
        prop_assert_eq!(decode_value(value.as_bytes()).unwrap(), text.as_str());
        let padded = format!(" \t{value}\t ");
        prop_assert_eq!(decode_value(padded.as_bytes()).unwrap(), text.as_str());
    }

    #[test]
    fn whatever_is_decoded_has_one_meaning(raw in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(text) = decode_value(&raw) {
            let again = encode_value(&text);
            prop_assert_eq!(decode_value(again.as_bytes()).unwrap(), text.as_ref());
        }
    }

    #[test]
    fn a_server_accepts_the_mirror_that_a_client_sends(name in text(), method in "[a-z/]{1,12}") {
        for method in ["tools/call", "resources/read", "tasks/get", method.as_str()] {
            let params = json!({"name": name, "uri": name, "taskId": name}).to_string();
            let mirror = MirroredHeaders::from_message(method, Some(params.as_bytes())).unwrap();
            let sent = pairs(&mirror.fields().unwrap());
            prop_assert!(sent.iter().all(|(_, value)| is_safe(value)));
            prop_assert_eq!(mirror.check_request(&sent), Ok(()));
            prop_assert_eq!(mirror.check_notification(&sent), Ok(()));
        }
    }

    #[test]
    fn a_server_accepts_the_params_that_a_client_sends(arguments in arguments()) {
        let params = ParamHeaders::from_schema(SCHEMA).unwrap();
        let text = arguments.to_string();
        let fields = params.fields(Some(text.as_bytes()));
        let unmirrorable = arguments["text"].is_object();
        prop_assert_eq!(fields.is_err(), unmirrorable);
        let sent = pairs(&fields.unwrap_or_default());
        prop_assert!(sent.iter().all(|(_, value)| is_safe(value)));
        prop_assert_eq!(params.check(&sent, Some(text.as_bytes())), Ok(()));

        // One header less, one changed, or one more is not the same call.
        for index in 0..sent.len() {
            let mut less = sent.clone();
            let mut changed = sent.clone();
            changed[index].1.push('x');
            prop_assert!(params.check(&changed, Some(text.as_bytes())).is_err());
            let taken = less.remove(index);
            prop_assert!(params.check(&less, Some(text.as_bytes())).is_err());
            let more: Vec<_> = sent.iter().cloned().chain([taken]).collect();
            prop_assert!(params.check(&more, Some(text.as_bytes())).is_err());
        }
    }
}
