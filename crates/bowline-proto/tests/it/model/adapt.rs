//! Fitting messages to what a revision can carry.

use bowline_proto::{
    model::{
        Adapt, CallToolParams, CallToolResult, ClientCapabilities, ContentBlock,
        CreateMessageParams, CreateMessageResult, ElicitParams, ElicitSchema, EmptyResult,
        Implementation, InputRequiredResult, ListToolsResult, ProgressParams, ServerCapabilities,
        Tool, decode,
    },
    revision::Revision,
};
use serde_json::{Value, json};

/// What is left of a message in each revision, the oldest first.
fn adapted<T: Adapt + serde::Serialize + serde::de::DeserializeOwned>(wire: &Value) -> [Value; 5] {
    Revision::ALL.map(|revision| {
        let mut message: T = decode(wire.to_string().as_bytes()).expect("the message decodes");
        message.adapt(&revision.rules().features);
        serde_json::to_value(&message).expect("the message encodes")
    })
}

/// Checks in which revisions each member is left, the oldest first.
fn check_members(adapted: &[Value; 5], expected: &[(&str, [u8; 5])]) {
    for (key, revisions) in expected {
        let left = adapted
            .each_ref()
            .map(|json| u8::from(json.get(key).is_some()));
        assert_eq!(left, *revisions, "{key}");
    }
    let known = |key: &String| expected.iter().any(|(expected, _)| expected == key);
    for json in adapted {
        let members = json.as_object().expect("a message is an object");
        assert!(members.keys().all(known), "{json}");
    }
}

#[test]
fn a_tool() {
    let tool = json!({
        "name": "berth",
        "title": "Find a berth",
        "description": "Finds a free berth",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true},
        "execution": {"taskSupport": "optional"},
        "icons": [{"src": "https://harbour.example/i.png"}],
        "_meta": {"a": 1},
        "vendor": {"kept": true},
    });
    check_members(
        &adapted::<Tool>(&tool),
        &[
            ("name", [1, 1, 1, 1, 1]),
            ("description", [1, 1, 1, 1, 1]),
            ("inputSchema", [1, 1, 1, 1, 1]),
            ("annotations", [0, 1, 1, 1, 1]),
            ("title", [0, 0, 1, 1, 1]),
            ("outputSchema", [0, 0, 1, 1, 1]),
            ("_meta", [0, 0, 1, 1, 1]),
            ("icons", [0, 0, 0, 1, 1]),
            ("execution", [0, 0, 0, 1, 0]),
            ("vendor", [1, 1, 1, 1, 1]),
        ],
    );
}

#[test]
fn a_tools_schemas() {
    let tool = json!({"name": "soundings", "outputSchema": {"type": "array"}});
    check_members(
        &adapted::<Tool>(&tool),
        &[
            ("name", [1, 1, 1, 1, 1]),
            // Servers must send one, so that one is made up.
            ("inputSchema", [1, 1, 1, 1, 1]),
            // Only the newest knows results that are not objects.
            ("outputSchema", [0, 0, 0, 0, 1]),
        ],
    );
}

#[test]
fn what_a_tool_returned() {
    let object = json!({"content": [], "structuredContent": {"berth": 4}, "_meta": {"a": 1}});
    check_members(
        &adapted::<CallToolResult>(&object),
        &[
            ("content", [1, 1, 1, 1, 1]),
            ("_meta", [1, 1, 1, 1, 1]),
            ("structuredContent", [0, 0, 1, 1, 1]),
            ("resultType", [0, 0, 0, 0, 1]),
        ],
    );
    let list = json!({"content": [], "structuredContent": [1.5, 2]});
    let adapted = adapted::<CallToolResult>(&list);
    check_members(
        &adapted,
        &[
            ("content", [1, 1, 1, 1, 1]),
            ("structuredContent", [0, 0, 0, 0, 1]),
            ("resultType", [0, 0, 0, 0, 1]),
        ],
    );
    // Where it is dropped and nothing else renders it, its text stays.
    assert_eq!(adapted[3]["content"][0]["text"], "[1.5,2]");
    assert_eq!(adapted[4]["content"], json!([]));
}

#[test]
fn content_of_a_later_kind_becomes_a_text() {
    let audio = json!({"type": "audio", "data": "Zm9n", "mimeType": "audio/ogg",
        "annotations": {"priority": 1, "lastModified": "2025-01-01"}, "x": 1});
    let adapted_audio = adapted::<ContentBlock>(&audio);
    assert_eq!(
        adapted_audio[0],
        json!({
            "type": "text",
            "text": "[Audio left out: audio/ogg (4 bytes in base64). \
                     The protocol version in use has no audio.]",
            "annotations": {"priority": 1},
            "x": 1,
        })
    );
    assert_eq!(adapted_audio[1]["type"], "audio");
    assert_eq!(adapted_audio[4], audio);

    let link = json!({"type": "resource_link", "uri": "chart:///x", "name": "x",
        "title": "Sheet X", "mimeType": "text/plain", "description": "Shoals"});
    let adapted_link = adapted::<ContentBlock>(&link);
    let text = "[Resource: Sheet X <chart:///x>, text/plain, Shoals]";
    assert_eq!(adapted_link[1], json!({"type": "text", "text": text}));
    assert_eq!(adapted_link[2], link);

    let stranger = json!({"type": "hologram", "title": "kept"});
    assert_eq!(adapted::<ContentBlock>(&stranger)[0], stranger);
}

#[test]
fn results_say_what_the_newest_revision_wants() {
    let list = adapted::<ListToolsResult>(&json!({"tools": []}));
    assert_eq!(list[3], json!({"tools": []}));
    assert_eq!(
        list[4],
        json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"})
    );
    let hinted = json!({"resultType": "complete", "tools": [], "ttlMs": 5, "cacheScope": "public"});
    let list = adapted::<ListToolsResult>(&hinted);
    assert_eq!(list[3], json!({"tools": []}));
    assert_eq!(list[4], hinted);
    let empty = adapted::<EmptyResult>(&json!({}));
    assert_eq!(empty[0], json!({}));
    assert_eq!(empty[4], json!({"resultType": "complete"}));
    let asks = adapted::<InputRequiredResult>(&json!({"requestState": "s"}));
    assert_eq!(asks[4]["resultType"], "input_required");
}

#[test]
fn params_keep_to_their_revision() {
    let call = json!({"name": "t", "arguments": {}, "task": {}, "inputResponses": {},
        "requestState": "s"});
    check_members(
        &adapted::<CallToolParams>(&call),
        &[
            ("name", [1, 1, 1, 1, 1]),
            ("arguments", [1, 1, 1, 1, 1]),
            ("task", [0, 0, 0, 1, 0]),
            ("inputResponses", [0, 0, 0, 0, 1]),
            ("requestState", [0, 0, 0, 0, 1]),
        ],
    );
    let progress = json!({"progressToken": 1, "progress": 2, "message": "m"});
    check_members(
        &adapted::<ProgressParams>(&progress),
        &[
            ("progressToken", [1, 1, 1, 1, 1]),
            ("progress", [1, 1, 1, 1, 1]),
            ("message", [0, 1, 1, 1, 1]),
        ],
    );
    let program = json!({"name": "n", "version": "1", "title": "t", "description": "d",
        "websiteUrl": "w", "icons": [{"src": "s"}]});
    check_members(
        &adapted::<Implementation>(&program),
        &[
            ("name", [1, 1, 1, 1, 1]),
            ("version", [1, 1, 1, 1, 1]),
            ("title", [0, 0, 1, 1, 1]),
            ("description", [0, 0, 0, 1, 1]),
            ("websiteUrl", [0, 0, 0, 1, 1]),
            ("icons", [0, 0, 0, 1, 1]),
        ],
    );
}

#[test]
fn meta_of_another_era_is_taken_off() {
    let call = json!({"name": "t", "_meta": {
        "progressToken": 1,
        "traceparent": "00-1-2-01",
        "vendor.example/x": null,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/related-task": {"taskId": "t"},
    }});
    let adapted = adapted::<CallToolParams>(&call);
    assert_eq!(
        adapted[2]["_meta"],
        json!({"progressToken": 1, "traceparent": "00-1-2-01", "vendor.example/x": null})
    );
    let meta = |at: usize, key: &str| adapted[at]["_meta"].get(key).is_some();
    let (version, task) = (
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/related-task",
    );
    assert_eq!([meta(3, version), meta(4, version)], [false, true]);
    assert_eq!([meta(3, task), meta(4, task)], [true, false]);
}

#[test]
fn capabilities() {
    let client = json!({"roots": {"listChanged": true}, "sampling": {"tools": {}},
        "elicitation": {"form": {}, "url": {}}, "tasks": {}, "extensions": {"a/b": {}},
        "experimental": {}, "vendor": {}});
    let adapted_client = adapted::<ClientCapabilities>(&client);
    check_members(
        &adapted_client,
        &[
            ("roots", [1, 1, 1, 1, 1]),
            ("sampling", [1, 1, 1, 1, 1]),
            ("elicitation", [0, 0, 1, 1, 1]),
            ("tasks", [0, 0, 0, 1, 0]),
            ("extensions", [0, 0, 0, 1, 1]),
            ("experimental", [1, 1, 1, 1, 1]),
            ("vendor", [1, 1, 1, 1, 1]),
        ],
    );
    assert_eq!(adapted_client[2]["elicitation"], json!({}));
    assert_eq!(adapted_client[2]["sampling"], json!({}));
    assert_eq!(adapted_client[4]["roots"], json!({}));
    // An empty elicitation capability means forms, which this client has not.
    let url_only = adapted::<ClientCapabilities>(&json!({"elicitation": {"url": {}}}));
    assert_eq!(url_only[2], json!({}));
    assert_eq!(url_only[3], json!({"elicitation": {"url": {}}}));

    let server = json!({"completions": {}, "logging": {}, "tasks": {}, "extensions": {}});
    check_members(
        &adapted::<ServerCapabilities>(&server),
        &[
            ("logging", [1, 1, 1, 1, 1]),
            ("completions", [0, 1, 1, 1, 1]),
            ("tasks", [0, 0, 0, 1, 0]),
            ("extensions", [0, 0, 0, 1, 1]),
        ],
    );
}

#[test]
fn forms() {
    let form = json!({"type": "object", "$schema": "s", "properties": {
        "name": {"type": "string", "default": "Aurora"},
        "crew": {"type": "integer", "minimum": 1, "default": 4},
        "pilot": {"type": "boolean", "default": true},
        "side": {"type": "string", "enum": ["p", "s"], "default": "p"},
        "berth": {"type": "string", "default": "n1",
            "oneOf": [{"const": "n1", "title": "North 1"}, {"const": "s2", "title": "South 2"}]},
    }});
    let adapted = adapted::<ElicitSchema>(&form);
    assert_eq!(
        adapted[2],
        json!({"type": "object", "properties": {
            "name": {"type": "string"},
            "crew": {"type": "integer", "minimum": 1},
            "pilot": {"type": "boolean", "default": true},
            "side": {"type": "string", "enum": ["p", "s"]},
            "berth": {"type": "string", "enum": ["n1", "s2"],
                "enumNames": ["North 1", "South 2"]},
        }})
    );
    assert_eq!(adapted[3], form);
    assert_eq!(adapted[4], form);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let unsupported = |wire: Value| {
        let params: ElicitParams = decode(wire.to_string().as_bytes()).expect("it decodes");
        Revision::ALL.map(|revision| {
            u8::from(
                params
                    .unsupported_reason(&revision.rules().features)
                    .is_some(),
            )
        })
    };
    let form = |property: Value| {
        json!({"message": "m",
            "requestedSchema": {"type": "object", "properties": {"p": property}}})
    };
    assert_eq!(
        unsupported(form(json!({"type": "boolean"}))),
        [1, 1, 0, 0, 0]
    );
    let several = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
    assert_eq!(unsupported(form(several)), [1, 1, 1, 0, 0]);
    let url = json!({"mode": "url", "message": "m", "url": "https://harbour.example"});
    assert_eq!(unsupported(url), [1, 1, 1, 1, 0]);
    let named = json!({"mode": "url", "message": "m", "url": "u", "elicitationId": "i"});
    assert_eq!(unsupported(named.clone()), [1, 1, 1, 0, 0]);
    assert_eq!(
        adapted::<ElicitParams>(&named)[4].get("elicitationId"),
        None
    );
}

#[test]
fn sampling_with_tools() {
    let ask = json!({"maxTokens": 1, "tools": [], "toolChoice": {}, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content":
            [{"type": "tool_use", "id": "u", "name": "tide", "input": {"port": "Faro"}}]},
        {"role": "user", "content": [{"type": "tool_result", "toolUseId": "u",
            "content": [{"type": "text", "text": "High"}], "isError": true}]},
    ]});
    let adapted_ask = adapted::<CreateMessageParams>(&ask);
    let text =
        |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
    assert_eq!(
        adapted_ask[2],
        json!({"maxTokens": 1, "messages": [
            text("user", "a"),
            text("user", "b"),
            text("assistant", "[Tool call u: tide {\"port\":\"Faro\"}]"),
            text("user", "[Tool call u failed]\nHigh"),
        ]})
    );
    assert_eq!(adapted_ask[3], ask);

    let answer = json!({"role": "assistant", "model": "m", "content":
        [{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"}]});
    let adapted_answer = adapted::<CreateMessageResult>(&answer);
    assert_eq!(
        adapted_answer[0]["content"],
        json!({"type": "text", "text": "a\n\n[Image left out: image/png]"})
    );
    assert_eq!(adapted_answer[4], answer);
}
