//! Errands: servers brought up to date, and searched by their own tools.

use serde_json::json;

use crate::{
    rig::Rig,
    web::{Answer, serve_session},
};

/// A server with these tools, each of which says what it was called with.
fn with_tools(tools: &'static [&'static str]) -> String {
    serve_session(move |asked| {
        if asked.message["method"] != "tools/call" {
            let schema = json!({"type": "object", "properties": {
                "query": {"type": "string"}, "limit": {"type": "integer"},
            }});
            let tool = |name: &&str| json!({"name": name, "inputSchema": schema});
            let tools: Vec<_> = tools.iter().map(tool).collect();
            return Answer::result(asked, &json!({"tools": tools}));
        }
        let params = &asked.message["params"];
        let name = params["name"].as_str().unwrap_or_default();
        let text = format!("{name} {}", params["arguments"]);
        let failed = name.ends_with("_broken");
        let content = json!([{"type": "text", "text": text}]);
        Answer::result(asked, &json!({"content": content, "isError": failed}))
    })
}

#[test]
fn a_server_is_brought_up_to_date() {
    let rig = Rig::empty();
    let url = with_tools(&["sync_all", "sync_repository"]);
    let ran = rig.run(&["sync", &url]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.text(), "sync_repository {}\n");
    assert!(ran.stderr.contains("calling sync_repository"), "{ran:?}");
    let ran = rig.run(&["sync", &url, "--tool", "sync_all", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let result = &ran.json()["results"][0];
    assert_eq!(result["tool"], "sync_all");
    assert_eq!(result["result"]["content"][0]["text"], "sync_all {}");
}

#[test]
fn of_several_tools_one_must_be_chosen() {
    let rig = Rig::empty();
    let url = with_tools(&["sync_a", "sync_b"]);
    let ran = rig.run(&["sync", &url]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("sync_a, sync_b"), "{ran:?}");
    let ran = rig.run(&["sync", &url, "--yes"]);
    assert_eq!((ran.code, ran.text()), (Some(0), "sync_a {}\n"), "{ran:?}");
}

#[test]
fn all_servers_that_can_are_brought_up_to_date() {
    let rig = Rig::empty();
    let (one, two) = (with_tools(&["sync"]), with_tools(&["other"]));
    rig.configure(&json!({"mcpServers": {"one": {"url": one}, "two": {"url": two}}}));
    let ran = rig.run(&["sync"]);
    assert_eq!((ran.code, ran.text()), (Some(0), "sync {}\n"), "{ran:?}");
}

#[test]
fn a_tool_that_fails_is_a_failure() {
    let rig = Rig::empty();
    let (sync, search) = (with_tools(&["sync_broken"]), with_tools(&["search_broken"]));
    rig.configure(&json!({"mcpServers": {"one": {"url": sync}}}));
    let verbs: [&[&str]; 3] = [
        &["sync", &sync],
        &["sync"],
        &["search", "x", "--server", &search, "--call"],
    ];
    for verb in verbs {
        for how in [&[][..], &["--json"]] {
            let ran = rig.run(&[verb, how].concat());
            assert_eq!(ran.code, Some(5), "{verb:?} {how:?}: {ran:?}");
        }
    }
}

#[test]
fn a_server_is_searched_by_its_own_tool() {
    let rig = Rig::empty();
    let url = with_tools(&["search", "other"]);
    let search = [
        "search", "two", "words", "--server", &url, "--call", "--limit", "3",
    ];
    let ran = rig.run(&search);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.text(), "search {\"query\":\"two words\",\"limit\":3}\n");
    let ran = rig.run(&[&search[..], &["--json"]].concat());
    let text = ran.json()["content"][0]["text"].clone();
    assert_eq!(text, "search {\"query\":\"two words\",\"limit\":3}");
}
