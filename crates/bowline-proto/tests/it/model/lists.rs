//! Lists set bad items aside.

use bowline_proto::model::{DecodeError, ListToolsResult, ResultObject, Tool, ToolMode, decode};

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

/// A page of this many items, each written as `item`.
fn page(item: &str, count: usize) -> Vec<u8> {
    let items = vec![item; count].join(",");
    format!(r#"{{"tools":[{items}]}}"#).into_bytes()
}

/// What decoding a page takes at most, beside the page itself.
fn memory(page: &[u8]) -> (Result<ListToolsResult, DecodeError>, u64) {
    let mut result = None;
    let info = allocation_counter::measure(|| {
        result = Some(<ListToolsResult as ResultObject>::decode(page));
    });
    (result.expect("it ran"), info.bytes_max)
}

/// The items of a page take up to a hundred times their length: a page as large
/// as a frame may be must not take a gigabyte before anybody looks at limits.
#[test]
fn a_page_has_no_more_items_than_there_is_room_for() {
    for item in ["{}", "1", r#"{"name":"a"}"#, r#"{"name":5}"#] {
        let page = page(item, 15_000_000 / (item.len() + 1));
        let (result, bytes) = memory(&page);
        let error = result.expect_err(item).to_string();
        assert!(error.contains("more than 100000 items"), "{item}: {error}");
        assert!(bytes < 1024 * 1024, "{item}: {bytes} bytes");
    }
}

#[test]
fn a_page_may_have_as_many_items_as_there_is_room_for() {
    let (result, _) = memory(&page(r#"{"name":"a"}"#, 100_000));
    assert_eq!(result.expect("not too many").tools.len(), 100_000);
}
