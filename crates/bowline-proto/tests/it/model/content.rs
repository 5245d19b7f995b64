//! Content blocks: known kinds in any order, unknown kinds kept.

use bowline_proto::model::{
    CallToolResult, ContentBlock, SamplingContent, SamplingMessage, decode,
};
use serde_json::{Value, json};

fn check<T: serde::Serialize + serde::de::DeserializeOwned>(wire: &Value) -> T {
    let decoded: T = decode(wire.to_string().as_bytes()).expect("the wire decodes");
    assert_eq!(&serde_json::to_value(&decoded).expect("it encodes"), wire);
    decoded
}

#[test]
fn the_tag_may_stand_anywhere() {
    for text in [
        r#"{"type":"text","text":"hi","annotations":{"priority":1},"x":[1]}"#,
        r#"{"text":"hi","annotations":{"priority":1},"type":"text","x":[1]}"#,
        r#"{"x":[1],"annotations":{"priority":1},"text":"hi","type":"text"}"#,
    ] {
        let block: ContentBlock = decode(text.as_bytes()).unwrap();
        assert_eq!(block.as_text(), Some("hi"), "{text}");
        assert_eq!(
            serde_json::to_value(&block).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }
}

#[test]
fn an_unknown_kind_survives() {
    let wire = json!({
        "content": [
            {"type": "hologram", "frames": [1, 2], "nested": {"deep": null}},
            {"type": "text", "text": "beside it"},
        ],
        "isError": false,
    });
    let result: CallToolResult = check(&wire);
    assert_eq!(result.content[0].kind(), "hologram");
    assert!(!result.is_error());
}

#[test]
fn a_known_kind_with_bad_fields_is_an_error_with_a_path() {
    let error = decode::<CallToolResult>(br#"{"content":[{"type":"text","text":7}]}"#).unwrap_err();
    assert_eq!(error.path, "content[0].text");
    let error = decode::<CallToolResult>(br#"{"content":[{"text":"no tag"}]}"#).unwrap_err();
    assert!(error.message.contains("missing field `type`"), "{error}");
}

#[test]
fn null_structured_content_is_a_value() {
    let null: CallToolResult = check(&json!({"content": [], "structuredContent": null}));
    assert_eq!(null.structured_content.unwrap().get(), "null");
    let absent: CallToolResult = check(&json!({"content": []}));
    assert_eq!(absent.structured_content, None);
}

#[test]
fn sampling_content_keeps_its_form() {
    let one: SamplingMessage =
        check(&json!({"role": "user", "content": {"type": "text", "text": "a"}}));
    assert!(matches!(one.content, SamplingContent::Single(_)));
    let many: SamplingMessage = check(&json!({"role": "user", "content": [
        {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}},
    ]}));
    assert!(matches!(many.content, SamplingContent::Multiple(_)));
}
