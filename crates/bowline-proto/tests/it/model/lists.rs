//! Lists set bad items aside.

use bowline_proto::model::{ListToolsResult, ResultObject, Tool, ToolMode, decode};

const MIXED: &[u8] = br#"{
    "tools": [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": 5},
        "not even an object",
        {"name": "without-schema", "mode": "stateless"}
    ],
    "nextCursor": "",
    "vendor": true
}"#;

#[test]
fn a_bad_item_does_not_sink_the_list() {
    let list = <ListToolsResult as ResultObject>::decode(MIXED).unwrap();
    let names: Vec<_> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "without-schema"]);
    let rejected: Vec<_> = list
        .rejected
        .iter()
        .map(|item| (item.index, item.error.path.as_str()))
        .collect();
    assert_eq!(rejected, [(1, "name"), (2, "")]);
    assert_eq!(list.rejected[0].raw.get(), r#"{"name": 5}"#);
    assert_eq!(list.next_cursor.as_deref(), Some(""));
    assert!(list.extra.contains_key("vendor"));
    let encoded = serde_json::to_string(&list).unwrap();
    assert!(!encoded.contains("rejected"), "{encoded}");
}

#[test]
fn a_plain_decode_is_strict() {
    let error = decode::<ListToolsResult>(MIXED).unwrap_err();
    assert_eq!(error.path, "tools[1].name");
}

#[test]
fn what_is_wrong_beside_the_list_is_an_error() {
    for bad in ["{}", r#"{"tools": 3}"#, r#"{"tools": [], "nextCursor": 3}"#] {
        assert!(
            <ListToolsResult as ResultObject>::decode(bad.as_bytes()).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn a_tool_says_whether_it_keeps_state() {
    for (wire, mode) in [
        (r#"{"name":"t"}"#, ToolMode::Stateful),
        (r#"{"name":"t","mode":"stateless"}"#, ToolMode::Stateless),
        (r#"{"name":"t","mode":"sometimes"}"#, ToolMode::Stateful),
        (
            r#"{"name":"t","_meta":{"dev.bowline/mode":"stateless"}}"#,
            ToolMode::Stateless,
        ),
    ] {
        let tool: Tool = decode(wire.as_bytes()).unwrap();
        assert_eq!(tool.mode(), mode, "{wire}");
        assert_eq!(
            tool.input_schema_or_empty().get(),
            r#"{"type":"object"}"#,
            "{wire}"
        );
    }
}
