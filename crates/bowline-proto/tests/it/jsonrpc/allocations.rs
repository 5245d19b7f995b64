//! What reading and writing a message costs in memory.

use bowline_proto::jsonrpc::{LineFramer, OutgoingMessage, scan};
use serde_json::json;

/// How often `run` allocates, on this thread and no other.
fn allocations(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).count_total
}

#[test]
fn the_scan_allocates_nothing() {
    let text = "a line of text\n".repeat(10_000);
    let tool = json!({"name": "add", "description": text, "inputSchema": {"type": "object"}});
    let tools = vec![tool; 20];
    for frame in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "resultType": "complete"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": text}}),
    ] {
        let frame = frame.to_string();
        let count = allocations(|| drop(scan(frame.as_bytes()).unwrap()));
        assert_eq!(count, 0, "{frame:.100}");
    }
}

#[test]
fn an_escaped_method_allocates_but_escaped_keys_do_not() {
    let keys = br#"{"\u006asonrpc":"2\u002e0","\u0069d":3,"m\u0065thod":"x","\u0061":[]}"#;
    assert_eq!(allocations(|| drop(scan(keys).unwrap())), 0);
    let method = br#"{"jsonrpc":"2.0","id":3,"method":"tools\/call"}"#;
    assert_ne!(allocations(|| drop(scan(method).unwrap())), 0);
}

#[test]
fn a_small_request_is_one_buffer_and_its_reference_count() {
    let params = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    let count = allocations(|| {
        let mut draft = OutgoingMessage::new("tools/call", &params).unwrap();
        draft.push("_meta", &7).unwrap();
        drop(draft.into_request(1));
    });
    assert!(count <= 2, "{count}");
}

#[test]
fn frames_out_of_one_read_share_its_buffer() {
    let mut framer = LineFramer::new(1000);
    framer.push(&b"{\"jsonrpc\":\"2.0\"}\n".repeat(100));
    drop(framer.next_frame());
    let count = allocations(|| while framer.next_frame().unwrap().is_some() {});
    assert_eq!(count, 0);
}
