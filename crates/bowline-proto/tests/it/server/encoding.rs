//! Results, as each revision has them.

use bowline_proto::{
    model::{
        CallToolResult, EmptyResult, Implementation, InputRequiredResult, ListToolsResult,
        ResultObject,
    },
    revision::Revision,
    server::{Config, RequestContext, encode_result, stateless},
};
use serde_json::{Value, json};

use super::rig::{Rig, modern_meta};

fn encode<R: ResultObject>(context: &RequestContext, result: R) -> Value {
    let encoded = encode_result(context, result).expect("it encodes");
    encoded.decode().expect("it is JSON")
}

fn context_in(revision: Revision) -> RequestContext {
    let mut rig = Rig::session_in(revision.as_str());
    rig.request(1, "tools/list", json!({}));
    rig.context().clone()
}

fn stateless_context() -> RequestContext {
    let mut config = Config::new("rig", "1.0.0");
    config.capabilities.tools = Some(Default::default());
    let params = json!({"_meta": modern_meta()}).to_string();
    stateless::admit(&config, "tools/list", Some(params.as_bytes())).expect("it is admitted")
}

#[test]
fn handshake_revisions_get_nothing_of_the_other_era() {
    for revision in bowline_proto::revision::handshake_revisions() {
        let context = context_in(revision);
        assert_eq!(encode(&context, EmptyResult::default()), json!({}));
        let list = ListToolsResult::new(Vec::new());
        assert_eq!(encode(&context, list), json!({"tools": []}));
    }
}

#[test]
fn stateless_results_say_what_and_whose_they_are() {
    let list = encode(&stateless_context(), ListToolsResult::new(Vec::new()));
    let info = json!({"name": "rig", "version": "1.0.0"});
    let expected = json!({
        "resultType": "complete",
        "tools": [],
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": info},
    });
    assert_eq!(list, expected);
}

#[test]
fn what_the_host_said_in_meta_stays() {
    let mut result = CallToolResult::text("done");
    let meta = result.meta.get_or_insert_default();
    meta.write("acme/x", &7).unwrap();
    meta.set_server_info(&Implementation::new("proxied", "2"));
    let result = encode(&stateless_context(), result);
    assert_eq!(result["_meta"]["acme/x"], 7);
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "proxied"
    );
}

#[test]
fn questions_are_results_too() {
    let mut result = InputRequiredResult::default();
    result.request_state = Some("sealed".to_owned());
    let result = encode(&stateless_context(), result);
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["requestState"], "sealed");
}
