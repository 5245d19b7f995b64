//! What every object does alike: rules for missing, null and repeated members.

use bowline_proto::model::{
    CallToolResult, CoreTask, LogLevel, LoggingMessageParams, Prompt, TextContent, Tool, decode,
};

#[test]
fn a_missing_required_member_is_named() {
    let error = decode::<Tool>(br#"{"description":"nameless"}"#).unwrap_err();
    assert!(error.message.contains("missing field `name`"), "{error}");
}

#[test]
fn null_is_absence_unless_it_is_a_value() {
    let tool: Tool = decode(br#"{"name":"t","title":null,"icons":null,"_meta":null}"#).unwrap();
    assert_eq!(tool, Tool::new("t"));
    let result: CallToolResult = decode(br#"{"content":null}"#).unwrap();
    assert_eq!(result, CallToolResult::default());
    let message: LoggingMessageParams = decode(br#"{"level":"info","data":null}"#).unwrap();
    assert_eq!(message.data.get(), "null");
    assert!(decode::<Tool>(br#"{"name":null}"#).is_err());
}

#[test]
fn some_members_are_written_even_when_null() {
    let wire =
        r#"{"taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":null}"#;
    let task: CoreTask = decode(wire.as_bytes()).unwrap();
    assert_eq!(task.ttl, None);
    assert_eq!(serde_json::to_string(&task).unwrap(), wire);
}

#[test]
fn the_last_of_repeated_members_counts() {
    let prompt: Prompt = decode(br#"{"name":"a","x":1,"name":"b","x":2}"#).unwrap();
    assert_eq!(prompt.name, "b");
    assert_eq!(prompt.extra.get("x").unwrap().get(), "2");
}

#[test]
fn members_are_written_in_a_fixed_order_and_strangers_last() {
    let tool: Tool = decode(br#"{"z":1,"title":"T","a":2,"name":"t"}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&tool).unwrap(),
        r#"{"name":"t","title":"T","z":1,"a":2}"#
    );
}

#[test]
fn a_tagged_object_bears_its_own_tag_alone() {
    let text: TextContent = decode(br#"{"text":"untagged"}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&text).unwrap(),
        r#"{"type":"text","text":"untagged"}"#
    );
    let error = decode::<TextContent>(br#"{"type":"image","text":"x"}"#).unwrap_err();
    assert!(error.message.contains("expected \"text\""), "{error}");
}

#[test]
fn anything_but_an_object_is_refused() {
    for wire in ["[]", "null", "\"tool\"", "1", "{", ""] {
        assert!(decode::<Tool>(wire.as_bytes()).is_err(), "{wire}");
    }
    assert!(decode::<Tool>(br#"{"name":"t"} trailing"#).is_err());
}

#[test]
fn log_levels_are_ordered_by_severity() {
    assert!(LogLevel::ALL.is_sorted());
    let unknown = LogLevel::from("loud");
    assert_eq!(unknown.partial_cmp(&LogLevel::Alert), None);
    assert_eq!(unknown.as_str(), "loud");
}
